/**
 * Opens one picture file, so that the page does not stand still: done in the page, 108
 * megapixels stopped it for 4.9 s (Chromium 156 on two cores, 2026-11-29). The page ends
 * this worker afterwards, which gives back the decoded picture's 430 MB at once.
 */

import { fit } from "./picture_size.js";

/** @typedef {{ bitmap: ImageBitmap, pixels: Uint8ClampedArray<ArrayBuffer>, original: [number, number] }} Opened */

self.onmessage = async ({ data: file }) => {
  try {
    const opened = await open(file);
    self.postMessage(opened, { transfer: [opened.bitmap, opened.pixels.buffer] });
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};

/**
 * @param {Blob} file
 * @returns {Promise<Opened>}
 */
async function open(file) {
  const whole = await createImageBitmap(file, { imageOrientation: "from-image" });
  const [width, height] = fit(whole.width, whole.height);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("no 2-D canvas");
  context.imageSmoothingQuality = "high";
  context.drawImage(whole, 0, 0, width, height);
  const original = /** @type {[number, number]} */ ([whole.width, whole.height]);
  whole.close();
  const pixels = context.getImageData(0, 0, width, height).data;
  return { bitmap: canvas.transferToImageBitmap(), pixels: /** @type {any} */ (pixels), original };
}
