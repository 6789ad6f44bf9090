/**
 * The bytes of Python's arrays, wherever in wasm memory they lie.
 *
 * Pyodide's getBuffer takes addresses as signed, so that it throws for an array that lies or ends above 2 GiB; to_js
 * and assign copy zeros from there in silence, and strings of 64 and more ASCII characters come as other bytes. Here
 * such an array is viewed at its unsigned address, and long texts cross as bytes.
 */

/** @typedef {import("./replay_plan.js").PyArray} PyArray */

/** @type {PyArray} an object of the interpreter's own data, which lies lowest in wasm memory */
let low;
/** @type {(array: PyArray) => [address: number, size: number]} */
let locate;

/**
 * @param {PyArray} lowByte
 * @param {typeof locate} locateArray
 */
export function setHost(lowByte, locateArray) {
  [low, locate] = [lowByte, locateArray];
}

/**
 * A view of the array's bytes, for the caller to release before it awaits anything: memory may grow.
 *
 * @param {PyArray} array
 * @returns {{ data: Uint8Array, release: () => void }}
 */
export function borrow(array) {
  try {
    return array.getBuffer("u8"); // any other type has no float16
  } catch (error) {
    if (error.name !== "RangeError") {
      throw error;
    }
  }
  const [address, size] = locate(array);
  const view = low.getBuffer("u8"); // after the call of Python, in which memory may grow
  const memory = view.data.buffer;
  view.release();
  return { data: new Uint8Array(memory, address, size), release: () => {} };
}

/** @param {PyArray} source */
export function copied(source) {
  const view = borrow(source);
  const data = view.data.slice();
  view.release();
  return data;
}

/** @param {PyArray} source - UTF-8 */
export function decoded(source) {
  return new TextDecoder().decode(copied(source));
}

/** @param {PyArray} out @param {ArrayBuffer} from @param {number} offset @param {number} size */
export function fill(out, from, offset, size) {
  if (size > 0) {
    const view = borrow(out);
    view.data.set(new Uint8Array(from, offset, size));
    view.release();
  }
}

/** @param {PyArray} out @param {Uint8Array | Uint8ClampedArray} data - of the same size */
export function fillWhole(out, data) {
  fill(out, data.buffer, data.byteOffset, data.byteLength);
}

/** @param {PyArray} url - UTF-8 */
export function get(url) {
  return fetch(decoded(url));
}
