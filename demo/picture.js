/** Pictures: opened by the browser, upright, of a size that the jobs can take. */

import { fit } from "./picture_size.js";

/** @typedef {import("./picture_worker.js").Opened} Opened */

/** The size given to a drawing (SVG) that has none of its own. */
const DRAWING_SIDE = 1200;

/** The file is no picture that this browser can open. */
export class UnreadablePicture extends Error {}

export class Picture {
  #pixels;

  /**
   * @param {string} name
   * @param {Opened} opened
   */
  constructor(name, { bitmap, pixels, original }) {
    this.name = name;
    this.width = bitmap.width;
    this.height = bitmap.height;
    /** Width and height before it was made smaller. */
    this.original = original;
    this.canvas = document.createElement("canvas");
    this.canvas.width = bitmap.width;
    this.canvas.height = bitmap.height;
    this.canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(bitmap);
    /** @type {Map<import("./protocol.js").Job, import("./protocol.js").JobResult>} */
    this.results = new Map();
    this.#pixels = pixels;
  }

  /** A fresh copy of the pixels, RGBA, to be transferred to the worker. */
  pixels() {
    return this.#pixels.slice();
  }
}

/**
 * Opens a picture file, turned as its EXIF orientation says and made smaller if it has
 * more pixels than the jobs can take.
 *
 * @param {Blob} file
 * @param {string} name
 * @throws {UnreadablePicture}
 */
export async function openPicture(file, name) {
  const opened = file.type.startsWith("image/svg") ? openDrawing(file) : openPhoto(file);
  try {
    return new Picture(name, await opened);
  } catch (cause) {
    if (cause instanceof ErrorEvent) throw new Error("The page's program for pictures could not be loaded.");
    throw new UnreadablePicture(`${name} could not be opened as a picture.`, { cause });
  }
}

/**
 * @param {Blob} file
 * @returns {Promise<Opened>}
 */
async function openPhoto(file) {
  const worker = new Worker(new URL("picture_worker.js", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => ("error" in data ? reject(new Error(data.error)) : resolve(data));
      worker.onerror = (event) => {
        event.preventDefault();
        // A worker whose program does not load gives a plain Event, without a message.
        reject(event instanceof ErrorEvent ? event : new ErrorEvent("error"));
      };
      worker.postMessage(file);
    });
  } finally {
    worker.terminate();
  }
}

/**
 * Only an image element opens an SVG file, so this is done in the page.
 *
 * @param {Blob} file
 * @returns {Promise<Opened>}
 */
async function openDrawing(file) {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const original = /** @type {[number, number]} */ ([
      image.naturalWidth || DRAWING_SIDE,
      image.naturalHeight || DRAWING_SIDE,
    ]);
    const [width, height] = fit(...original);
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context === null) throw new Error("no 2-D canvas");
    context.drawImage(image, 0, 0, width, height);
    const pixels = context.getImageData(0, 0, width, height).data;
    return { bitmap: await createImageBitmap(canvas), pixels: /** @type {any} */ (pixels), original };
  } finally {
    URL.revokeObjectURL(url);
  }
}
