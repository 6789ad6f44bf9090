/** Files fetched with their progress, each at most once at a time. */

// Taken before anything can put a watched `fetch` in its place.
const plainFetch = globalThis.fetch.bind(globalThis);

/** A file did not arrive; the message names it. */
export class DownloadError extends Error {}

/** @typedef {{ loaded: number, total: number | null }} Bytes */

/** Several files as one download: their bytes are added up. */
export class Downloads {
  /** @type {Map<string, { bytes: Bytes, content: Promise<Uint8Array> }>} */
  #files = new Map();

  /**
   * The files' contents, in the order of `urls`.
   *
   * @param {URL[]} urls
   * @param {(bytes: Bytes) => void} onProgress
   * @returns {Promise<Uint8Array[]>}
   * @throws {DownloadError}
   */
  async get(urls, onProgress) {
    const files = urls.map((url) => this.#start(url));
    const tell = () => onProgress(sum(files.map((file) => file.bytes)));
    const timer = setInterval(tell, 100);
    try {
      tell();
      const contents = await Promise.all(files.map((file) => file.content));
      tell();
      return contents;
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * Lets go of files that have been used. The browser's own cache still has them.
   *
   * @param {URL[]} urls
   */
  forget(urls) {
    for (const url of urls) this.#files.delete(url.href);
  }

  /** @param {URL} url */
  #start(url) {
    const known = this.#files.get(url.href);
    if (known) return known;
    const bytes = /** @type {Bytes} */ ({ loaded: 0, total: null });
    const file = { bytes, content: read(url, bytes) };
    file.content.catch(() => this.#files.delete(url.href)); // so that a retry asks again
    this.#files.set(url.href, file);
    return file;
  }
}

/**
 * @param {URL} url
 * @param {Bytes} bytes - counted up as they arrive
 */
async function read(url, bytes) {
  try {
    const response = await plainFetch(url);
    if (!response.ok || response.body === null) {
      throw new DownloadError(`${url.pathname} could not be loaded (HTTP ${response.status}).`);
    }
    const length = Number(response.headers.get("content-length"));
    bytes.total = length > 0 && !response.headers.has("content-encoding") ? length : null;
    const parts = [];
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes.loaded += value.byteLength;
      parts.push(value);
    }
    bytes.total = bytes.loaded;
    return join(parts, bytes.loaded);
  } catch (cause) {
    if (cause instanceof DownloadError) throw cause;
    throw new DownloadError(`${url.pathname} could not be loaded (${/** @type {Error} */ (cause).message}).`);
  }
}

/**
 * @param {Uint8Array[]} parts
 * @param {number} length
 */
function join(parts, length) {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

/** @param {Bytes[]} files */
function sum(files) {
  const loaded = files.reduce((total, file) => total + file.loaded, 0);
  const known = files.every((file) => file.total !== null);
  return {
    loaded,
    total: known ? files.reduce((total, file) => total + Number(file.total), 0) : null,
  };
}
