/**
 * A plan that is loaded on a device of replay.js, and the types that both files share. What
 * the dispatches compute is no concern of this file.
 */

import { failure } from "./adapter.js";
import { fill } from "./host_bytes.js";

/** @typedef {import("./replay.js").ReplayDevice} ReplayDevice */

/**
 * @typedef {object} PyArray - a PyProxy of an object with the buffer protocol
 * @property {(type: string) => { data: Uint8Array, release: () => void }} getBuffer
 * @property {() => PyArray} copy
 * @property {() => void} destroy
 */

/**
 * @typedef {object} WireShader
 * @property {string} name
 * @property {string} text
 * @property {number} reads - bindings 0 to reads - 1; then the writes, then the params
 * @property {number} writes
 */

/** @typedef {{ size: number, label: string, external: number }} WireBuffer - external: -1 or its place */

/**
 * @typedef {object} WireDispatch
 * @property {number} shader
 * @property {number[]} slots - reads, then writes
 * @property {[offset: number, size: number]} params - of the uniform buffer
 * @property {[number, number, number]} workgroups
 * @property {string} label
 */

/**
 * @typedef {object} WirePlan
 * @property {WireShader[]} shaders
 * @property {WireBuffer[]} buffers
 * @property {WireDispatch[]} setup
 * @property {WireDispatch[]} dispatches
 * @property {[slot: number, offset: number, size: number][]} constants - of the bytes of all of them
 * @property {[slot: number, size: number][]} uploads
 * @property {[slot: number, size: number][]} readbacks
 */

/** @typedef {{ pipeline: GPUComputePipeline, layout: GPUBindGroupLayout }} Compiled */

/** @typedef {{ compiled: Compiled, group: GPUBindGroup, workgroups: [number, number, number] }} Step */

/** @param {number} size @param {number} unit */
export const roundUp = (size, unit) => Math.ceil(size / unit) * unit;

/** A loaded plan: its buffers, bind groups and staging. */
export class ReplayPlan {
  /** @type {GPUBuffer[]} */
  #owned = [];
  /** @type {GPUBuffer[]} readback buffers that no run is using */
  #staging = [];
  #alive = true;

  /**
   * @param {ReplayDevice} device
   * @param {WirePlan} wire
   * @param {Compiled[]} compiled - by shader
   * @param {Uint8Array} uniforms
   * @param {Uint8Array} tables - the bytes of all constants
   * @param {GPUBuffer[]} externals
   */
  constructor(device, wire, compiled, uniforms, tables, externals) {
    this.device = device;
    this.uploads = wire.uploads;
    this.readbacks = wire.readbacks;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.buffers = wire.buffers.map(({ size, label, external }) =>
      external >= 0 ? externals[external] : this.#make(size, usage, label),
    );
    const params = this.#make(
      Math.max(16, uniforms.length),
      GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
      "params",
    );
    device.gpu.queue.writeBuffer(params, 0, uniforms);
    for (const [slot, offset, size] of wire.constants) {
      device.gpu.queue.writeBuffer(this.buffers[slot], 0, tables, offset, size);
    }
    /** @param {WireDispatch} dispatch @returns {Step} */
    const bind = (dispatch) => this.#bind(dispatch, compiled[dispatch.shader], params);
    const setup = wire.setup.map(bind);
    this.steps = wire.dispatches.map(bind);
    this.readbackBytes = wire.readbacks.reduce((bytes, [, size]) => bytes + roundUp(size, 4), 0);
    this.timestamps = device.timed && this.steps.length > 0 ? this.#queries(2) : null;
    if (setup.length > 0) {
      const encoder = device.gpu.createCommandEncoder();
      encodePass(encoder, setup);
      device.submit(encoder);
    }
  }

  /** @param {number} size @param {number} usage @param {string} label */
  #make(size, usage, label) {
    const buffer = this.device.make(size, usage, label);
    this.#owned.push(buffer);
    return buffer;
  }

  /** @param {WireDispatch} dispatch @param {Compiled} compiled @param {GPUBuffer} params */
  #bind({ slots, params: [offset, size], workgroups, label }, compiled, params) {
    const resources = slots.map((slot) => ({ buffer: this.buffers[slot] }));
    const entries = [...resources, { buffer: params, offset, size }].map((resource, binding) => ({
      binding,
      resource,
    }));
    const group = this.device.gpu.createBindGroup({ label, layout: compiled.layout, entries });
    return { compiled, group, workgroups };
  }

  /** @param {number} count */
  #queries(count) {
    const querySet = this.device.gpu.createQuerySet({ type: "timestamp", count });
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    return { querySet, resolved: this.#make(8 * count, usage, "timestamps") };
  }

  /**
   * Uploads the first arrays, runs, and fills the others.
   *
   * @param {...PyArray} arrays - inputs, then outputs, of the plan's sizes
   * @returns {Promise<number | undefined>} GPU milliseconds, where timestamps exist
   */
  async run(...arrays) {
    this.#enter("run");
    const { device, uploads } = this;
    uploads.forEach(([slot, size], index) => {
      if (size > 0) {
        device.upload(this.buffers[slot], 0, arrays[index], size);
      }
    });
    if (this.readbacks.length === 0) {
      this.#submit(null);
      return undefined;
    }
    const staging = this.#staging.pop() ?? this.#newStaging();
    const outputs = arrays.slice(uploads.length).map((array) => array.copy());
    try {
      this.#submit(staging);
      const milliseconds = this.#take(await device.mapped(staging, "run"), outputs);
      staging.unmap();
      this.#staging.push(staging);
      return milliseconds;
    } catch (error) {
      if (!this.#alive) {
        throw failure("DeviceError", "run: the plan was destroyed while it ran");
      }
      this.#owned.splice(this.#owned.indexOf(staging), 1);
      device.free(staging); // it may be mapped, or about to be
      throw error;
    } finally {
      outputs.forEach((array) => array.destroy());
    }
  }

  /** @param {string} what */
  #enter(what) {
    this.device.enter();
    if (!this.#alive) {
      throw failure("DeviceError", `${what}: the plan was destroyed`);
    }
  }

  #newStaging() {
    const size = roundUp(this.readbackBytes, 8) + 16;
    return this.#make(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST, "staging");
  }

  /** @param {GPUBuffer | null} staging */
  #submit(staging) {
    const encoder = this.device.gpu.createCommandEncoder();
    const timed = staging && this.timestamps;
    encodePass(encoder, this.steps, timed ? timestampWrites(timed.querySet, 0) : undefined);
    if (staging) {
      let offset = 0;
      for (const [slot, size] of this.readbacks) {
        encoder.copyBufferToBuffer(this.buffers[slot], 0, staging, offset, roundUp(size, 4));
        offset += roundUp(size, 4);
      }
    }
    if (timed) {
      encoder.resolveQuerySet(timed.querySet, 0, 2, timed.resolved, 0);
      encoder.copyBufferToBuffer(timed.resolved, 0, staging, roundUp(this.readbackBytes, 8), 16);
    }
    this.device.submit(encoder);
  }

  /** @param {ArrayBuffer} mapped @param {PyArray[]} outputs */
  #take(mapped, outputs) {
    let offset = 0;
    this.readbacks.forEach(([, size], index) => {
      fill(outputs[index], mapped, offset, size);
      offset += roundUp(size, 4);
    });
    if (!this.timestamps) {
      return undefined;
    }
    return milliseconds(new BigUint64Array(mapped, roundUp(offset, 8), 2), 0);
  }

  /**
   * Times each dispatch as a pass of its own, all repeats in one submit.
   *
   * @param {number} repeats
   * @returns {Promise<number[]>} milliseconds by run, then dispatch
   */
  async measure(repeats) {
    this.#enter("measure");
    const { device, steps } = this;
    const stride = roundUp(16 * steps.length, 256); // where a query set may be resolved to
    const size = Math.max(16, stride * repeats);
    const querySet = device.gpu.createQuerySet({ type: "timestamp", count: 2 * steps.length });
    const resolved = device.make(size, GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC, "timestamps");
    const staging = device.make(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST, "timestamps");
    try {
      const encoder = device.gpu.createCommandEncoder();
      for (let repeat = 0; repeat < repeats; repeat++) {
        steps.forEach((step, index) => encodePass(encoder, [step], timestampWrites(querySet, 2 * index)));
        encoder.resolveQuerySet(querySet, 0, 2 * steps.length, resolved, stride * repeat);
      }
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
      device.submit(encoder);
      const ticks = new BigUint64Array(await device.mapped(staging, "measure"));
      const first = (index) => (Math.floor(index / steps.length) * stride) / 8 + 2 * (index % steps.length);
      return Array.from({ length: repeats * steps.length }, (_, index) => milliseconds(ticks, first(index)));
    } finally {
      querySet.destroy();
      device.free(resolved);
      device.free(staging);
    }
  }

  destroy() {
    this.#alive = false;
    this.timestamps?.querySet.destroy();
    this.#owned.splice(0).forEach((buffer) => this.device.free(buffer));
    this.#staging = [];
  }
}

/** @param {GPUCommandEncoder} encoder @param {Step[]} steps @param {GPUComputePassTimestampWrites} [timestamps] */
function encodePass(encoder, steps, timestamps) {
  const pass = encoder.beginComputePass({ timestampWrites: timestamps });
  for (const { compiled, group, workgroups } of steps) {
    pass.setPipeline(compiled.pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...workgroups);
  }
  pass.end();
}

/** @param {GPUQuerySet} querySet @param {number} first */
function timestampWrites(querySet, first) {
  return { querySet, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
}

/** @param {BigUint64Array} ticks - nanoseconds @param {number} first */
function milliseconds(ticks, first) {
  return Number(ticks[first + 1] - ticks[first]) / 1e6;
}
