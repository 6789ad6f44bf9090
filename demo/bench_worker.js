/**
 * Runs onegpu_web.bench in Pyodide. Takes a list of runs, answers with a row for each layer,
 * a report for each run, then `done` or `failed`.
 *
 * @typedef {{model: string, batch: number, layer: string, variant: string, count: number, median_ms: number,
 *   min_ms: number, tflops: number, error: number, ok: boolean}} Row
 * @typedef {{model: string, batch: number, half: boolean, adapter: string, vendor: string, clock: string,
 *   sum_ms: number, rows: Row[]}} Report
 */

import { startPyodide } from "./web/pyodide_loader.js";

self.onmessage = async ({ data: runs }) => {
  try {
    const indexUrl = new URL("pyodide/", import.meta.url);
    const pyodide = await startPyodide({ indexUrl, packages: ["onegpu-web"] });
    const testing = await fetch(new URL("testing.zip", import.meta.url));
    if (!testing.ok) throw new Error("this site was not built in a checkout: it has no benchmark");
    const extractDir = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
    pyodide.unpackArchive(await testing.arrayBuffer(), "zip", { extractDir });
    const bench = pyodide.pyimport("onegpu_web.bench");
    const reports = [];
    for (const run of runs) {
      const onRow = (/** @type {string} */ json) => self.postMessage({ type: "row", row: JSON.parse(json) });
      const report = JSON.parse(await bench.bench_json(JSON.stringify(run), onRow));
      self.postMessage({ type: "report", report });
      reports.push(report);
    }
    self.postMessage({ type: "done", reports });
  } catch (error) {
    self.postMessage({ type: "failed", message: String(error) });
  }
};
