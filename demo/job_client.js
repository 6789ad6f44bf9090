/** The page's side of the worker: numbers requests and restarts a worker that died. */

/** @typedef {import("./protocol.js").WorkerMessage} WorkerMessage */
/** @typedef {import("./protocol.js").Job} Job */

export class JobClient {
  /** @type {Worker | null} */
  #worker = null;
  #lastId = 0;
  #broken = false;

  /** @param {(message: WorkerMessage) => void} onMessage */
  constructor(onMessage) {
    this.onMessage = onMessage;
  }

  /**
   * Asks for a job on a picture; the newest request wins.
   *
   * @param {Job} job
   * @param {import("./picture.js").Picture} picture
   * @returns {number} the request's id
   */
  run(job, picture) {
    const id = ++this.#lastId;
    const pixels = picture.pixels();
    const { width, height } = picture;
    this.#living().postMessage({ type: "run", id, job, width, height, pixels }, [pixels.buffer]);
    return id;
  }

  #living() {
    if (this.#worker !== null && !this.#broken) return this.#worker;
    this.#worker?.terminate();
    this.#broken = false;
    const worker = new Worker(new URL("job_worker.js", import.meta.url), {
      type: "module",
    });
    worker.onmessage = ({ data }) => {
      if (data.type === "error" && data.restart) this.#broken = true;
      this.onMessage(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#broken = true;
      // Without a message it is the worker's own files that did not arrive.
      const kind = event.message ? "internal" : "download";
      const message = event.message || "The worker's program could not be loaded.";
      this.onMessage({
        type: "error",
        id: this.#lastId,
        kind,
        message,
        restart: true,
      });
    };
    this.#worker = worker;
    return worker;
  }
}
