/** Pictures: opened by the browser, upright, of a size that the jobs can take. */

/** More than this and memory for the bytes, in the page and in Python, gets scarce on phones. */
export const MAX_PIXELS = 16e6;

/** Canvases of longer sides fail in some browsers. */
const MAX_SIDE = 16_384;

/** The size given to a drawing (SVG) that has none of its own. */
const DRAWING_SIDE = 1200;

/** The file is no picture that this browser can open. */
export class UnreadablePicture extends Error {}

export class Picture {
  /**
   * @param {string} name
   * @param {HTMLCanvasElement} canvas
   * @param {[number, number]} original - width and height before it was made smaller
   */
  constructor(name, canvas, original) {
    this.name = name;
    this.canvas = canvas;
    this.original = original;
    /** @type {Map<import("./protocol.js").Job, import("./protocol.js").JobResult>} */
    this.results = new Map();
  }

  get width() {
    return this.canvas.width;
  }

  get height() {
    return this.canvas.height;
  }

  /** A fresh copy of the pixels, RGBA, to be transferred to the worker. */
  pixels() {
    return context(this.canvas).getImageData(0, 0, this.width, this.height).data;
  }
}

/**
 * Opens a picture file, turned as its EXIF orientation says and made smaller if it has
 * more than MAX_PIXELS pixels.
 *
 * @param {Blob} file
 * @param {string} name
 * @throws {UnreadablePicture}
 */
export async function openPicture(file, name) {
  try {
    const source = file.type.startsWith("image/svg") ? await openDrawing(file) : await openPhoto(file);
    const [width, height] = fit(source.width, source.height);
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const target = context(canvas);
    target.imageSmoothingQuality = "high";
    target.drawImage(source, 0, 0, width, height);
    const original = /** @type {[number, number]} */ ([source.width, source.height]);
    if ("close" in source) source.close();
    target.getImageData(0, 0, 1, 1); // throws now, not in the middle of a job, where memory ran out
    return new Picture(name, canvas, original);
  } catch (cause) {
    throw new UnreadablePicture(`${name} could not be opened as a picture.`, {
      cause,
    });
  }
}

/**
 * The size at which a picture is used.
 *
 * @param {number} width
 * @param {number} height
 * @returns {[number, number]}
 */
export function fit(width, height) {
  const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / Math.max(width, height));
  return [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
}

/** @param {Blob} file */
function openPhoto(file) {
  return createImageBitmap(file, {
    imageOrientation: "from-image",
    premultiplyAlpha: "none",
  });
}

/**
 * createImageBitmap takes no SVG file, but an image element does.
 *
 * @param {Blob} file
 */
async function openDrawing(file) {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    image.width = image.naturalWidth || DRAWING_SIDE;
    image.height = image.naturalHeight || DRAWING_SIDE;
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {HTMLCanvasElement} canvas */
function context(canvas) {
  const found = canvas.getContext("2d", { willReadFrequently: true });
  if (found === null) throw new Error("no 2-D canvas");
  return found;
}
