/**
 * Replays recorded plans on the browser's GPU for a caller in Python (Pyodide).
 *
 * A call from Python costs about a microsecond and a bind group made from there 28, so a
 * plan crosses once, as JSON, and a run of it is one call: upload, one compute pass, one
 * submit, one readback into the caller's arrays. What the dispatches compute is no
 * concern of this file.
 *
 * Arrays come as PyProxies of objects with the buffer protocol. Python lends them for the
 * length of a call: what is needed after an await is copied first and destroyed at last.
 * A view of wasm memory is never held over an await, since the memory may grow.
 *
 * Errors that the GPU reports later (uncapturederror, device loss) are kept and thrown by
 * the run that is awaited then, or else by the next call. A thrown error's `name` is the Python class that it becomes.
 */

import { failure, requestDevice } from "./adapter.js";
import { borrow, copied, decoded, fill } from "./host_bytes.js";
import { ReplayPlan, roundUp } from "./replay_plan.js";

export { openAdapter } from "./adapter.js";
export { fillWhole, get, setHost } from "./host_bytes.js";

/** @typedef {import("./replay_plan.js").PyArray} PyArray */
/** @typedef {import("./replay_plan.js").WireShader} WireShader */
/** @typedef {import("./replay_plan.js").WirePlan} WirePlan */
/** @typedef {import("./replay_plan.js").Compiled} Compiled */

// How long a wait that broke may be ahead of the news that the device was lost.
const LOSS_MS = 200;

// While a run is short its end is asked for without a pause, later after growing ones: a run of seconds must not keep
// a slow machine busy with being asked.
const EAGER_MS = 8;
const LONGEST_PAUSE_MS = 100;

// Pipelines kept for plans to come, the least recently used dropped; a loaded plan holds its own.
const PIPELINES_KEPT = 512;

const SCOPES = /** @type {const} */ (["validation", "out-of-memory", "internal"]);

/**
 * @param {GPUAdapter} adapter
 * @param {PyArray} descriptor - JSON of a GPUDeviceDescriptor
 */
export async function openDevice(adapter, descriptor) {
  return new ReplayDevice(await requestDevice(adapter, descriptor));
}

/** A GPU device with the buffers and pipelines made on it. */
export class ReplayDevice {
  /** Calls from Python, queue submits and readbacks so far; tests watch them. */
  counters = { calls: 0, submits: 0, readbacks: 0 };
  /** @type {string[]} warnings of the shader compiler */
  messages = [];
  /** @type {string[]} */
  #errors = [];
  /** @type {string | null} */
  #lost = null;
  /** Maps that are awaited, and whether the GPU process is being asked about them. */
  #waits = 0;
  #asking = false;
  #eagerUntil = 0;
  #wake = () => {};
  /** @type {Set<(error: Error) => void>} what ends a wait when the device is lost */
  #losers = new Set();
  /** @type {Set<GPUBuffer>} */
  #buffers = new Set();
  /** @type {Map<string, Promise<Compiled>>} */
  #pipelines = new Map();
  /** @type {Map<string, GPUBindGroupLayout>} */
  #layouts = new Map();

  /** @param {GPUDevice} gpu */
  constructor(gpu) {
    this.gpu = gpu;
    this.timed = gpu.features.has("timestamp-query");
    gpu.addEventListener("uncapturederror", (event) => this.#errors.push(event.error.message));
    gpu.lost.then((info) => this.#lose(info.message || info.reason));
  }

  /** @param {string} reason */
  #lose(reason) {
    this.#lost ??= reason;
    this.#losers.forEach((reject) => reject(this.#loss()));
  }

  #loss() {
    return failure("DeviceLostError", `the device is gone (${this.#lost}): request a new one`);
  }

  /**
   * What `work` gives, or the news that the device is lost: compiling may go on for long after it.
   *
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  #orLost(work) {
    return new Promise((resolve, reject) => {
      this.#losers.add(reject);
      work.then(resolve, reject).finally(() => this.#losers.delete(reject));
    });
  }

  get liveBuffers() {
    return this.#buffers.size;
  }

  /** Starts a call from Python. */
  enter() {
    this.counters.calls += 1;
    this.raise();
  }

  /** Throws what went wrong since the last call. */
  raise() {
    if (this.#lost !== null) {
      throw this.#loss();
    }
    if (this.#errors.length > 0) {
      throw failure("DeviceError", this.#errors.splice(0).join("\n"));
    }
  }

  /** @param {number} size @param {string} label */
  createBuffer(size, label) {
    this.enter();
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const { value, errors } = this.scoped(() => this.make(size, usage, label));
    errors.then((found) => this.#errors.push(...found.map((text) => `create_buffer of ${size} bytes: ${text}`)));
    return value;
  }

  /** @param {number} size @param {number} usage @param {string} label */
  make(size, usage, label) {
    const buffer = this.gpu.createBuffer({ size, usage, label });
    this.#buffers.add(buffer);
    return buffer;
  }

  /** @param {GPUBuffer} buffer */
  free(buffer) {
    this.#buffers.delete(buffer);
    buffer.destroy();
  }

  /** @param {GPUBuffer} buffer @param {number} offset @param {PyArray} source @param {number} size */
  write(buffer, offset, source, size) {
    this.enter();
    this.upload(buffer, offset, source, size);
  }

  /**
   * Queues a copy of host bytes. WebGPU copies multiples of 4 bytes, so a ragged tail goes by itself.
   *
   * @param {GPUBuffer} buffer @param {number} offset @param {PyArray} source @param {number} size
   */
  upload(buffer, offset, source, size) {
    const view = borrow(source);
    try {
      const whole = size - (size % 4);
      if (whole > 0) {
        this.gpu.queue.writeBuffer(buffer, offset, view.data, 0, whole);
      }
      if (whole < size) {
        const tail = new Uint8Array(4);
        tail.set(view.data.subarray(whole, size));
        this.gpu.queue.writeBuffer(buffer, offset + whole, tail);
      }
    } finally {
      view.release();
    }
  }

  /** @param {GPUBuffer} buffer @param {number} offset @param {PyArray} out @param {number} size */
  async read(buffer, offset, out, size) {
    this.enter();
    const padded = roundUp(size, 4);
    const kept = out.copy();
    const staging = this.make(padded, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST, "read");
    try {
      const encoder = this.gpu.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, offset, staging, 0, padded);
      this.submit(encoder);
      fill(kept, await this.mapped(staging, "read"), 0, size);
    } finally {
      this.free(staging);
      kept.destroy();
    }
  }

  /** @param {GPUCommandEncoder} encoder */
  submit(encoder) {
    this.counters.submits += 1;
    this.gpu.queue.submit([encoder.finish()]);
  }

  /**
   * Waits until the copies into `staging` are there. The only place that waits for the GPU:
   * whatever makes a browser notice a finished run sooner belongs here, behind a measurement.
   *
   * @param {GPUBuffer} staging
   * @param {string} what - for the error
   */
  async mapped(staging, what) {
    this.counters.readbacks += 1;
    const mapping = staging.mapAsync(GPUMapMode.READ);
    this.#waits += 1;
    this.#ask();
    try {
      await mapping;
    } catch (error) {
      await Promise.race([this.gpu.lost, delay(LOSS_MS)]);
      this.raise();
      throw failure("DeviceError", `${what}: ${error.message}`);
    } finally {
      this.#waits -= 1;
    }
    this.raise();
    return staging.getMappedRange();
  }

  /**
   * Asks the GPU process for an answer, again and again, until nobody waits. Chromium looks for finished work when it
   * is asked something: awaiting mapAsync alone, ResNet-50 took 4.2 ms from array to array on an H200 (Chromium 156,
   * Vulkan), with error scopes pushed and popped meanwhile 2.7, EfficientNet-lite0 3.9 and 1.7. One question at a time,
   * none in hidden tabs.
   */
  async #ask() {
    this.#eagerUntil = performance.now() + EAGER_MS;
    this.#wake();
    if (this.#asking) {
      return;
    }
    this.#asking = true;
    try {
      for (let pause = 1; this.#waits > 0 && !globalThis.document?.hidden;) {
        this.gpu.pushErrorScope("validation");
        await this.gpu.popErrorScope();
        if (performance.now() < this.#eagerUntil) {
          pause = 1;
        } else if (this.#waits > 0) {
          await Promise.race([delay(pause), new Promise((resolve) => (this.#wake = resolve))]);
          pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
        }
      }
    } catch {
      // The device is lost: whoever waits is told by the map that fails.
    } finally {
      this.#asking = false;
    }
  }

  /**
   * Runs `work` within error scopes. It must not await: scopes are a stack of the whole device.
   *
   * @template T
   * @param {() => T} work
   * @returns {{ value: T, errors: Promise<string[]> }}
   */
  scoped(work) {
    SCOPES.forEach((filter) => this.gpu.pushErrorScope(filter));
    try {
      return { value: work(), errors: this.#popScopes() };
    } catch (error) {
      this.#popScopes();
      throw error;
    }
  }

  /** @returns {Promise<string[]>} */
  #popScopes() {
    const popped = SCOPES.map(() => this.gpu.popErrorScope());
    return Promise.all(popped).then(
      (found) => found.flatMap((error) => (error ? [error.message] : [])),
      () => [], // scopes of a lost device; `raise` tells of the loss
    );
  }

  /**
   * @param {PyArray} json - a WirePlan
   * @param {PyArray} params - the bytes of the uniform buffer
   * @param {PyArray} constants - the bytes of all constants
   * @param {...GPUBuffer} externals
   */
  async load(json, params, constants, ...externals) {
    this.enter();
    /** @type {WirePlan} */
    const wire = JSON.parse(decoded(json));
    const [uniforms, tables] = [params, constants].map(copied);
    const compiled = await this.#orLost(Promise.all(wire.shaders.map((shader) => this.#pipeline(shader))));
    this.raise();
    const { value: plan, errors } = this.scoped(
      () => new ReplayPlan(this, wire, compiled, uniforms, tables, externals),
    );
    const found = await errors;
    if (found.length > 0) {
      plan.destroy();
      throw failure("DeviceError", `load: ${found.join("\n")}`);
    }
    return plan;
  }

  /** @param {WireShader} shader */
  #pipeline(shader) {
    const key = `${shader.reads} ${shader.writes} ${shader.text}`;
    let compiled = this.#pipelines.get(key);
    if (!compiled) {
      compiled = this.#compile(shader);
      compiled.catch(() => this.#pipelines.delete(key));
    }
    this.#pipelines.delete(key); // a Map keeps the order of insertion: the key goes to its end
    this.#pipelines.set(key, compiled);
    if (this.#pipelines.size > PIPELINES_KEPT) {
      this.#pipelines.delete(this.#pipelines.keys().next().value);
    }
    return compiled;
  }

  /**
   * @param {WireShader} shader
   * @returns {Promise<Compiled>}
   */
  async #compile({ name, text, reads, writes }) {
    const layout = this.#layout(reads, writes);
    const { value, errors } = this.scoped(() => {
      const module = this.gpu.createShaderModule({ label: name, code: text });
      const pipelineLayout = this.gpu.createPipelineLayout({ bindGroupLayouts: [layout] });
      const compute = { module, entryPoint: "main" };
      const pending = this.gpu.createComputePipelineAsync({ label: name, layout: pipelineLayout, compute });
      return { module, pending: pending.catch((error) => failure("ShaderError", error.message)) };
    });
    const [info, pipeline, found] = await Promise.all([value.module.getCompilationInfo?.(), value.pending, errors]);
    const told = (info?.messages ?? []).map((m) => ({
      type: m.type,
      text: `${m.type} ${m.lineNum}:${m.linePos}: ${m.message}`,
    }));
    const bad = told.filter((message) => message.type === "error").map((message) => message.text);
    this.raise();
    if (bad.length > 0 || found.length > 0 || pipeline instanceof Error) {
      const why = bad.length > 0 ? bad : pipeline instanceof Error ? [pipeline.message] : found;
      throw failure("ShaderError", why.join("\n"), { label: name, text });
    }
    this.messages.push(...told.map((message) => `${name}: ${message.text}`));
    return { pipeline, layout };
  }

  /** @param {number} reads @param {number} writes */
  #layout(reads, writes) {
    const key = `${reads} ${writes}`;
    let layout = this.#layouts.get(key);
    if (!layout) {
      /** @type {GPUBufferBindingType[]} */
      const types = [...Array(reads).fill("read-only-storage"), ...Array(writes).fill("storage"), "uniform"];
      const entries = types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
      layout = this.gpu.createBindGroupLayout({ entries });
      this.#layouts.set(key, layout);
    }
    return layout;
  }

  destroy() {
    this.#lose("it was destroyed");
    this.gpu.destroy();
    this.#buffers.clear();
    this.#pipelines.clear();
    this.#layouts.clear();
  }
}

/** @param {number} milliseconds */
function delay(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
