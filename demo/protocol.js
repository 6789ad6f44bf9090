/**
 * What the page and its worker say to each other, in one place.
 *
 * The page posts `RunRequest`s; the worker answers with any number of `Progress`
 * messages and then one `Result` or one `Failure` with the same id. The newest request
 * wins: a request that a newer one overtakes is stopped at its next step and may get no
 * answer. `DeviceNews` comes whenever the worker has (again) a graphics device.
 */

/** @typedef {"read" | "classify" | "faces"} Job */

/**
 * @typedef {object} RunRequest
 * @property {"run"} type
 * @property {number} id - grows with every request
 * @property {Job} job
 * @property {number} width
 * @property {number} height
 * @property {Uint8ClampedArray<ArrayBuffer>} pixels - RGBA, not premultiplied; its buffer is transferred
 */

/**
 * The stages in the order in which they are gone through. All but the last are done
 * once and then stay: Pyodide itself, the Python packages, a job's model files, its
 * pipelines on the GPU, and the run on one picture.
 *
 * @typedef {"python" | "packages" | "models" | "pipelines" | "run"} Stage
 */

/**
 * @typedef {object} Progress
 * @property {"progress"} type
 * @property {number} [id] - absent for stages that serve every request
 * @property {Stage} stage
 * @property {number} done
 * @property {number | null} total - null while unknown
 * @property {"bytes" | "steps"} unit
 * @property {string} text - the name of the step being done, or empty
 * @property {number} [ms] - set once, when the stage is over: how long it took
 */

/** @typedef {{ text: string, score: number, box: [number, number][] }} Line */
/** @typedef {{ label: string, score: number }} Guess */
/** @typedef {{ box: [number, number, number, number], score: number, points: [number, number][] }} Face */

/**
 * One of `lines`, `top` and `faces` is there, by job. Coordinates are pixels of the
 * picture sent. `ms` has the time of each step, and of the model on the GPU as `gpu`
 * where the adapter has timestamps.
 *
 * @typedef {object} JobResult
 * @property {Line[]} [lines]
 * @property {Guess[]} [top]
 * @property {Face[]} [faces]
 * @property {Record<string, number>} ms
 */

/**
 * @typedef {object} Result
 * @property {"result"} type
 * @property {number} id
 * @property {JobResult} result
 */

/** @typedef {"no-webgpu" | "no-adapter" | "picture" | "device-lost" | "download" | "internal"} FailureKind */

/**
 * @typedef {object} Failure
 * @property {"error"} type
 * @property {number} id
 * @property {FailureKind} kind
 * @property {string} message - the particulars, in a sentence
 * @property {boolean} [restart] - this worker cannot go on: a new attempt needs a new worker
 */

/**
 * @typedef {object} DeviceNews
 * @property {"device"} type
 * @property {string} name - the adapter as the browser names it
 * @property {boolean} software - it computes on the processor
 */

/** @typedef {Progress | Result | Failure | DeviceNews} WorkerMessage */

/** @type {Job[]} */
export const JOBS = ["read", "classify", "faces"];

/** @type {Stage[]} */
export const STAGES = ["python", "packages", "models", "pipelines", "run"];
