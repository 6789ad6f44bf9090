/** The stages on the way to a result: what is loaded, what is running, what it took. */

import { STAGES } from "./protocol.js";

/** @typedef {import("./protocol.js").Stage} Stage */
/** @typedef {import("./protocol.js").Job} Job */
/** @typedef {import("./protocol.js").Progress} Progress */

/** @type {Record<Stage, string>} */
const NAMES = {
  python: "Python (Pyodide)",
  packages: "NumPy and onegpu_web",
  models: "Models",
  pipelines: "GPU pipelines",
  run: "This picture",
};

/**
 * Words for the steps of a job; a step without any goes by its name.
 *
 * @type {Record<string, string>}
 */
const STEPS = {
  prepare: "Prepare the picture",
  detect: "Find the text",
  recognize: "Read the lines",
  model: "Run the model",
  finish: "Sort out the answer",
  pipelines: "Compile",
};

/** @type {Stage[]} stages gone through once for all jobs */
const SHARED = ["python", "packages"];

/** The list of stages, shown while a request is on its way. */
export class StageList {
  /** @type {Map<string, Progress>} by stage, and for stages of one job by job and stage */
  #latest = new Map();

  /** @type {Set<Stage>} those that the present request goes through */
  #shown = new Set();

  #painting = false;
  #job = /** @type {Job} */ ("read");

  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
  }

  /**
   * Starts anew for a request: what was over before is not shown again.
   *
   * @param {Job} job
   */
  begin(job) {
    this.#job = job;
    this.#shown = new Set(STAGES.filter((stage) => this.#of(stage, job)?.ms === undefined && this.#of(stage, job)));
    this.#shown.delete("run");
    this.#paint();
  }

  /** The next worker starts from nothing. */
  forget() {
    this.#latest.clear();
  }

  /**
   * @param {Progress} progress
   * @param {Job} [job] - of the request it belongs to, if to one
   */
  update(progress, job) {
    this.#latest.set(key(progress.stage, job), progress);
    if (job === undefined || job === this.#job) this.#shown.add(progress.stage);
    if (this.#painting) return;
    // A model's chunks come by the thousand: one repaint a frame is enough.
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      this.#paint();
    });
  }

  /**
   * The stages before the run that are over, and the time each took.
   *
   * @param {Job} job
   */
  times(job) {
    return STAGES.flatMap((stage) => {
      const { ms, done, unit } = this.#of(stage, job) ?? {};
      if (ms === undefined) return [];
      return [
        {
          name: unit === "bytes" ? `${NAMES[stage]}, ${megabytes(done ?? 0)}` : NAMES[stage],
          ms,
        },
      ];
    });
  }

  /**
   * @param {Stage} stage
   * @param {Job} job
   */
  #of(stage, job) {
    return this.#latest.get(key(stage, job));
  }

  #paint() {
    const stages = STAGES.filter((stage) => this.#shown.has(stage) && this.#of(stage, this.#job));
    this.list.replaceChildren(...stages.map((stage) => this.#row(stage)));
  }

  /** @param {Stage} stage */
  #row(stage) {
    const { done, total, unit, text, ms } = /** @type {Progress} */ (this.#of(stage, this.#job));
    const over = ms !== undefined;
    const item = document.createElement("li");
    item.className = over ? "over" : "under-way";
    const amount = unit === "bytes" ? bytesText(done, total) : stepText(text, done, total);
    item.append(part("name", NAMES[stage]), part("amount", over ? duration(ms) : amount), part("bar", ""));
    if (!over && total) item.style.setProperty("--share", String(Math.min(1, done / total)));
    else if (!over) item.classList.add("unknown");
    return item;
  }
}

/**
 * Fills the table of times: each step of the run, the model on the GPU, and what was
 * done once before.
 *
 * @param {HTMLElement} place
 * @param {Record<string, number>} ms
 * @param {{ name: string, ms: number }[]} before
 */
export function showTimes(place, { gpu, ...steps }, before) {
  const rows = Object.entries(steps).map(([name, ms]) => ({
    name: stepName(name),
    ms,
  }));
  const longest = Math.max(...rows.map((row) => row.ms), 1e-9);
  place.replaceChildren(
    table("This picture", rows, longest),
    ...(gpu === undefined ? [] : [table("Of it, models on the GPU", [{ name: "GPU time", ms: gpu }], longest)]),
    ...(before.length > 0 ? [table("Done once before", before, null)] : []),
  );
}

/** The time from picture to result, without the GPU's share, which lies within it. */
export function totalMs(/** @type {Record<string, number>} */ { gpu: _, ...steps }) {
  return Object.values(steps).reduce((total, ms) => total + ms, 0);
}

/** @param {number} ms */
export function duration(ms) {
  if (ms >= 10_000) return `${Math.round(ms / 1000)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/**
 * @param {string} title
 * @param {{ name: string, ms: number }[]} rows
 * @param {number | null} longest - the length of a full bar, null for no bars
 */
function table(title, rows, longest) {
  const list = document.createElement("dl");
  list.setAttribute("aria-label", title);
  const head = document.createElement("h3");
  head.textContent = title;
  for (const { name, ms } of rows) {
    const line = document.createElement("div");
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = name;
    value.textContent = duration(ms);
    line.append(term, value);
    if (longest !== null) {
      const bar = part("bar", "");
      bar.style.setProperty("--share", String(ms / longest));
      line.append(bar);
    }
    list.append(line);
  }
  const whole = document.createElement("section");
  whole.append(head, list);
  return whole;
}

/**
 * @param {string} name
 * @param {string} text
 */
function part(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

/**
 * @param {number} done
 * @param {number | null} total
 */
function bytesText(done, total) {
  return total ? `${(done / 1e6).toFixed(1)} of ${megabytes(total)}` : megabytes(done);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * @param {string} name
 * @param {number} done
 * @param {number | null} total
 */
function stepText(name, done, total) {
  const counted = total !== null && total > 3; // the few steps of a small job need no numbers
  return counted ? `${stepName(name)}, ${done} of ${total}` : stepName(name);
}

/** @param {string} name */
function stepName(name) {
  return STEPS[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

/**
 * @param {Stage} stage
 * @param {Job} [job]
 */
function key(stage, job) {
  return SHARED.includes(stage) ? stage : `${job} ${stage}`;
}
