/**
 * Makes WGSL warnings and uncaptured GPU errors visible to the tests, as console errors.
 *
 * Chromium itself prints them for pages (not all of them) and for workers not at all.
 * Pages that are no secure context have no WebGPU to watch.
 */

if (globalThis.GPUAdapter) {
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    device.addEventListener("uncapturederror", ({ error }) => console.error(`uncaptured GPU error: ${error.message}`));
    return device;
  };

  const createShaderModule = GPUDevice.prototype.createShaderModule;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    const module = createShaderModule.call(this, descriptor);
    module.getCompilationInfo?.().then(({ messages }) =>
      messages
        .filter(({ type }) => type !== "error") // an error also fails what uses the module
        .forEach(({ type, lineNum, message }) =>
          console.error(`WGSL ${type} in ${module.label}, line ${lineNum}: ${message}`),
        ),
    );
    return module;
  };
}
