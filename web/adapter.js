/** Where a GPU comes from: the browser's adapter, described as plain data. */

import { decoded } from "./host_bytes.js";

/** @typedef {import("./replay_plan.js").PyArray} PyArray */

/**
 * @param {"DeviceError" | "DeviceLostError" | "ShaderError"} name
 * @param {string} message
 * @param {object} [more] - further properties
 */
export function failure(name, message, more = {}) {
  return Object.assign(new Error(message), { name, ...more });
}

/**
 * @param {GPUPowerPreference} powerPreference
 * @returns {Promise<{ adapter: GPUAdapter, facts: string }>} facts: JSON of info, features and limits
 */
export async function openAdapter(powerPreference) {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) {
    throw failure("DeviceError", "there is no WebGPU here (a recent browser over https or on localhost has it)");
  }
  const adapter = await asked("requestAdapter", () => gpu.requestAdapter({ powerPreference }));
  if (!adapter) {
    throw failure("DeviceError", "the browser offers no GPU adapter");
  }
  const facts = await asked("adapter's description", async () => ({
    info: await words(adapter),
    features: [...(adapter.features ?? [])],
    limits: numbers(adapter.limits),
  }));
  return { adapter, facts: JSON.stringify(facts) };
}

/**
 * @param {GPUAdapter} adapter
 * @param {PyArray} descriptor - JSON of a GPUDeviceDescriptor
 */
export function requestDevice(adapter, descriptor) {
  const wanted = JSON.parse(decoded(descriptor));
  return asked("requestDevice", () => adapter.requestDevice(wanted));
}

/**
 * What the browser answers. It may throw anything, an error or not, at once or later.
 *
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} ask
 */
async function asked(what, ask) {
  try {
    return await ask();
  } catch (error) {
    throw failure("DeviceError", `request_device: the browser's ${what} failed: ${error?.message ?? error}`);
  }
}

/** The adapter's words about itself, empty where there are none: `info` came late, and some browsers hide it. */
async function words(adapter) {
  const info = adapter.info ?? (await adapter.requestAdapterInfo?.());
  const word = (name) => [name, String(info?.[name] ?? "")];
  return Object.fromEntries(["vendor", "architecture", "device", "description"].map(word));
}

/** @param {GPUSupportedLimits} limits */
function numbers(limits) {
  const found = {};
  for (const name in limits) {
    found[name] = limits[name];
  }
  return found;
}
