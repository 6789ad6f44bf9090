/**
 * Starts a Pyodide distribution that lies on a server, in a page or in a module worker,
 * and tells how far it is. Knows nothing of what Python does afterwards.
 *
 * Pyodide itself reports no progress, and a core file that fails to arrive leaves its
 * promise pending for ever. So `fetch` is watched while Pyodide starts: bytes are
 * counted as they arrive, and the first failed download ends the start with an error
 * that names the file.
 */

/**
 * @typedef {object} StartProgress
 * @property {"python" | "packages"} stage - the core, or the packages by name
 * @property {number} loaded - bytes so far, after decompression
 * @property {number | null} total - null where the server does not say
 * @property {number} [ms] - set once, when the stage is over
 */

/**
 * @typedef {object} StartOptions
 * @property {string | URL} indexUrl - the folder of pyodide.mjs, ending in "/"
 * @property {string[]} [packages] - names in the distribution's lock file
 * @property {(progress: StartProgress) => void} [onProgress]
 */

/** A file of the distribution did not arrive, or not as the lock file says. */
export class PyodideDownloadError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "PyodideDownloadError";
  }
}

/**
 * Loads Pyodide and the packages.
 *
 * @param {StartOptions} options
 * @returns {Promise<any>} the Pyodide API
 * @throws {PyodideDownloadError}
 */
export async function startPyodide({ indexUrl, packages = [], onProgress = () => {} }) {
  const base = new URL(indexUrl, globalThis.location?.href);
  const pyodide = await watched("python", onProgress, async () => {
    const { loadPyodide } = await importCore(new URL("pyodide.mjs", base));
    return loadPyodide({ indexURL: base.href });
  });
  if (packages.length > 0) {
    await watched("packages", onProgress, () => loadPackages(pyodide, packages));
  }
  return pyodide;
}

/** @param {URL} url */
async function importCore(url) {
  try {
    return await import(url.href);
  } catch (cause) {
    throw new PyodideDownloadError(`${url.pathname} could not be loaded (${cause})`);
  }
}

/**
 * `loadPackage` reports a missing or damaged wheel only to its error callback.
 *
 * @param {any} pyodide
 * @param {string[]} packages
 */
async function loadPackages(pyodide, packages) {
  /** @type {string[]} */
  const complaints = [];
  await pyodide.loadPackage(packages, {
    messageCallback: () => {},
    errorCallback: (/** @type {string} */ text) => complaints.push(text),
  });
  const missing = packages.filter((name) => !(name in pyodide.loadedPackages));
  if (complaints.length > 0 || missing.length > 0) {
    throw new PyodideDownloadError(complaints[0] ?? `${missing.join(", ")} could not be loaded`);
  }
}

/**
 * Runs `work` with `fetch` watched, and reports the stage's bytes and time.
 *
 * @template T
 * @param {"python" | "packages"} stage
 * @param {(progress: StartProgress) => void} onProgress
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function watched(stage, onProgress, work) {
  const began = performance.now();
  const count = { loaded: 0, total: /** @type {number | null} */ (0) };
  const original = globalThis.fetch;
  /** @type {(error: Error) => void} */
  let fail = () => {};
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // the race below may be over before a late download fails
  globalThis.fetch = watchedFetch(original, count, () => onProgress({ stage, ...count }), fail);
  try {
    onProgress({ stage, ...count });
    const value = /** @type {T} */ (await Promise.race([work(), failed]));
    onProgress({ stage, ...count, ms: performance.now() - began });
    return value;
  } finally {
    globalThis.fetch = original;
  }
}

/**
 * @param {typeof fetch} original
 * @param {{ loaded: number, total: number | null }} count
 * @param {() => void} tell
 * @param {(error: Error) => void} fail
 * @returns {typeof fetch}
 */
function watchedFetch(original, count, tell, fail) {
  return async (resource, init) => {
    const path = new URL(resource instanceof Request ? resource.url : resource, globalThis.location.href).pathname;
    let response;
    try {
      response = await original(resource, init);
    } catch (cause) {
      fail(new PyodideDownloadError(`${path} could not be loaded (${cause})`));
      throw cause;
    }
    if (!response.ok) {
      fail(new PyodideDownloadError(`${path} could not be loaded (HTTP ${response.status})`));
    }
    return response.body === null ? response : counted(response, count, tell);
  };
}

/**
 * The same response, its bytes counted as they are read.
 *
 * @param {Response} response
 * @param {{ loaded: number, total: number | null }} count
 * @param {() => void} tell
 */
function counted(response, count, tell) {
  const length = Number(response.headers.get("content-length"));
  // Under a content encoding the length is that of the compressed body.
  const known = length > 0 && !response.headers.has("content-encoding");
  count.total = known && count.total !== null ? count.total + length : null;
  const meter = new TransformStream({
    transform(chunk, controller) {
      count.loaded += chunk.byteLength;
      tell();
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(/** @type {ReadableStream} */ (response.body).pipeThrough(meter), {
    status,
    statusText,
    headers,
  });
}
