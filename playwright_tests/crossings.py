"""Python for a page that counts what a run costs: calls into JavaScript, submits, maps and writes."""

# Stands between Python and replay.js to count calls, and before the GPU's own to count those.
COUNTER = """
from pyodide.code import run_js

counts = run_js('''(() => {
  const counts = { calls: 0, submits: 0, maps: 0, writes: 0 };
  const watch = (prototype, name, key) => {
    const original = prototype[name];
    prototype[name] = function (...args) { counts[key]++; return original.apply(this, args); };
  };
  watch(GPUQueue.prototype, "submit", "submits");
  watch(GPUQueue.prototype, "writeBuffer", "writes");
  watch(GPUBuffer.prototype, "mapAsync", "maps");
  counts.between = (target) => new Proxy(target, {
    get(_, name) {
      counts.calls++;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? (...args) => (counts.calls++, value.apply(target, args)) : value;
    },
  });
  counts.take = () => {
    const taken = [counts.calls, counts.submits, counts.maps, counts.writes];
    counts.calls = counts.submits = counts.maps = counts.writes = 0;
    return taken;
  };
  return counts;
})()''')

def watch_plan(plan):
    plan._js = counts.between(plan._js)
    plan._run = plan._js.run
"""
