/**
 * The worker behind the page: starts Pyodide and the package, fetches a job's models,
 * and hands pictures to job_worker.py. It speaks the protocol of protocol.js.
 *
 * Downloads run beside the start of Python. One request is served at a time; while it
 * runs, only the newest of those that arrive is kept.
 */

import { DownloadError, Downloads } from "./downloads.js";
import { PyodideDownloadError, startPyodide } from "./web/pyodide_loader.js";

/** @typedef {import("./protocol.js").RunRequest} RunRequest */
/** @typedef {import("./protocol.js").Job} Job */
/** @typedef {import("./protocol.js").FailureKind} FailureKind */
/** @typedef {import("./protocol.js").WorkerMessage} WorkerMessage */

/** @param {string} path */
const here = (path) => new URL(path, import.meta.url);

/**
 * The files of each job, in the order in which job_worker.py takes them.
 *
 * @type {Record<Job, URL[]>}
 */
const JOB_FILES = {
  read: [here("models/pp_ocrv6_det_tiny.onnx"), here("models/pp_ocrv6_rec_tiny.onnx")],
  classify: [here("models/efficientnet_lite0.onnx"), here("models/imagenet_labels.json")],
  faces: [here("models/blazeface_back.onnx")],
};

/** A failure that the page has words for. */
class KnownFailure extends Error {
  /**
   * @param {FailureKind} kind
   * @param {string} message
   */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/** A failure that job_worker.py answered with. */
class PythonFailure extends KnownFailure {}

const downloads = new Downloads();

/** @type {Promise<any> | null} job_worker.py's `JobWorker`, once asked for */
let python = null;

/** @type {Set<Job>} jobs whose models are on the device */
const ready = new Set();

let adapterFound = false;
let busy = false;

/** @type {RunRequest | null} the newest request not yet begun */
let waiting = null;

self.onmessage = ({ data }) => {
  waiting = data;
  if (!busy) void serveAll();
};

async function serveAll() {
  busy = true;
  while (waiting !== null) {
    const request = waiting;
    waiting = null;
    await serve(request);
  }
  busy = false;
}

/** @param {RunRequest} request */
async function serve(request) {
  try {
    const result = await run(request);
    if (result !== null) post({ type: "result", id: request.id, result });
  } catch (error) {
    post({ type: "error", id: request.id, ...explain(error) });
  }
}

/**
 * @param {RunRequest} request
 * @returns {Promise<import("./protocol.js").JobResult | null>} null when a newer request overtook it
 */
async function run({ id, job, width, height, pixels }) {
  await findAdapter();
  python ??= startPython();
  if (!ready.has(job)) await create(job, id);
  const jobs = await python;
  return unwrap(await jobs.run(job, width, height, pixels, reporter(id, "run")));
}

/**
 * Fetches the job's models, while Python starts, and puts them on the device.
 *
 * @param {Job} job
 * @param {number} id
 */
async function create(job, id) {
  const [jobs, files] = await Promise.all([/** @type {Promise<any>} */ (python), fetchFiles(JOB_FILES[job], id)]);
  const report = reporter(id, "pipelines");
  report("", 0, undefined);
  const created = await timed(async () => unwrap(await jobs.create(job, files, report)));
  post({
    type: "progress",
    id,
    stage: "pipelines",
    done: 1,
    total: 1,
    unit: "steps",
    text: "",
    ms: created.ms,
  });
  ready.add(job);
  downloads.forget(JOB_FILES[job]);
}

/**
 * @param {URL[]} urls
 * @param {number} id
 */
async function fetchFiles(urls, id) {
  const { value: files, ms } = await timed(() => downloads.get(urls, (bytes) => postBytes("models", bytes, id)));
  const loaded = files.reduce((total, file) => total + file.byteLength, 0);
  postBytes("models", { loaded, total: loaded }, id, ms);
  return files;
}

async function startPython() {
  let packages = { loaded: 0, total: /** @type {number | null} */ (null), ms: 0 };
  const pyodide = await startPyodide({
    indexUrl: here("pyodide/"),
    packages: ["onegpu-web"],
    onProgress: ({ stage, loaded, total, ms }) => {
      if (stage === "packages") packages = { loaded, total, ms: ms ?? 0 };
      // Importing them, below, still belongs to that stage.
      postBytes(stage, { loaded, total }, undefined, stage === "packages" ? undefined : ms);
    },
  });
  const [source] = await downloads
    .get([here("job_worker.py")], () => {})
    .catch(({ message }) => {
      throw new PyodideDownloadError(message); // a part of the start, which a new worker must do again
    });
  const imported = await timed(async () => {
    pyodide.FS.writeFile("job_worker.py", source);
    return pyodide.pyimport("job_worker").JobWorker();
  });
  postBytes("packages", packages, undefined, packages.ms + imported.ms);
  return imported.value;
}

/**
 * Says at once, before anything large is fetched, when nothing can be computed here.
 *
 * @throws {KnownFailure}
 */
async function findAdapter() {
  if (adapterFound) return;
  const gpu = /** @type {any} */ (navigator).gpu;
  if (!gpu) {
    throw new KnownFailure("no-webgpu", self.isSecureContext ? "" : "The page came over plain http.");
  }
  const adapter = await gpu.requestAdapter({
    powerPreference: "high-performance",
  });
  if (!adapter) throw new KnownFailure("no-adapter", "");
  adapterFound = true;
  const { vendor = "", architecture = "", description = "", isFallbackAdapter = false } = adapter.info ?? {};
  const name = description || [vendor, architecture].filter(Boolean).join(" ") || "a GPU without a name";
  const software = isFallbackAdapter || /swiftshader|llvmpipe/i.test(`${architecture} ${description}`);
  post({ type: "device", name, software });
}

/**
 * The answer inside job_worker.py's JSON.
 *
 * @param {string} json
 * @throws {PythonFailure}
 */
function unwrap(json) {
  const { result = null, error } = JSON.parse(json);
  if (!error) return result;
  if (error.trace) console.error(error.trace);
  if (error.device_gone) {
    ready.clear();
    adapterFound = false;
  }
  throw new PythonFailure(error.kind, error.message);
}

/**
 * @param {unknown} error
 * @returns {{ kind: FailureKind, message: string, restart: boolean }}
 */
function explain(error) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof KnownFailure) return { kind: error.kind, message, restart: false };
  if (error instanceof DownloadError) return { kind: "download", message, restart: false };
  // Pyodide cannot be started twice in one worker with certainty, nor go on after a fault of its own.
  if (error instanceof PyodideDownloadError) return { kind: "download", message, restart: true };
  console.error(error);
  return { kind: "internal", message, restart: true };
}

/**
 * What Python calls to tell how far it is. Answers whether a newer request waits.
 *
 * @param {number} id
 * @param {"pipelines" | "run"} stage
 */
function reporter(id, stage) {
  return (/** @type {string} */ text, /** @type {number} */ done, /** @type {number | undefined} */ total) => {
    post({ type: "progress", id, stage, done, total: total ?? null, unit: "steps", text });
    return waiting !== null;
  };
}

/**
 * @param {"python" | "packages" | "models"} stage
 * @param {import("./downloads.js").Bytes} bytes
 * @param {number} [id]
 * @param {number} [ms]
 */
function postBytes(stage, { loaded, total }, id, ms) {
  post({
    type: "progress",
    id,
    stage,
    done: loaded,
    total,
    unit: "bytes",
    text: "",
    ms,
  });
}

/** @param {WorkerMessage} message */
function post(message) {
  self.postMessage(message);
}

/**
 * @template T
 * @param {() => Promise<T>} work
 */
async function timed(work) {
  const began = performance.now();
  const value = await work();
  return { value, ms: performance.now() - began };
}
