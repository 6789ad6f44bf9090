/** The size at which a picture is used. */

/** More than this and memory for the bytes, in the page and in Python, gets scarce on phones. */
export const MAX_PIXELS = 16e6;

/** Canvases of longer sides fail in some browsers. */
const MAX_SIDE = 16_384;

/**
 * Width and height in the same proportions, within the limits.
 *
 * @param {number} width
 * @param {number} height
 * @returns {[number, number]}
 */
export function fit(width, height) {
  const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / Math.max(width, height));
  return [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
}
