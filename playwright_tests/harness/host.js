/** Pyodide with the package, in a page or, as the script of a module worker, in there. */

import "./guard.js";

// Runs the body of an async function; args and the result cross as JSON.
const RUN = `
async def _run(code, args):
    import json, textwrap, traceback
    args = json.loads(args)
    names = {}
    try:
        source = f"async def body({', '.join(args)}):\\n" + textwrap.indent(code, "    ")
        exec(compile(source, "<test>", "exec"), names)
        return json.dumps({"result": await names["body"](**args)})
    except Exception:
        return json.dumps({"error": traceback.format_exc()})

_run
`;

export class PythonHost {
  /** @param {boolean} jspi - false: as in a browser that cannot suspend WebAssembly */
  static async start(jspi) {
    if (!jspi) {
      delete WebAssembly.Suspending;
      delete WebAssembly.promising;
    }
    const { loadPyodide } = await import("/pyodide/pyodide.mjs");
    const pyodide = await loadPyodide({ indexURL: "/pyodide/" });
    const failures = [];
    await pyodide.loadPackage("onegpu-web", {
      messageCallback: () => {},
      errorCallback: (message) => failures.push(message),
    });
    if (failures.length > 0) {
      throw new Error(failures.join("\n"));
    }
    const testing = await (await fetch("/harness/testing.zip")).arrayBuffer();
    const sitePackages = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
    pyodide.unpackArchive(testing, "zip", { extractDir: sitePackages });
    return new PythonHost(await pyodide.runPythonAsync(RUN), jspi);
  }

  constructor(run, jspi) {
    this.call = (code, args) => (jspi ? run.callPromising(code, args) : run(code, args));
  }

  /** @returns {Promise<string>} JSON of `{ result }` or `{ error }` */
  run(code, args) {
    return this.call(code, args);
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  let host = null;
  const answer = async ({ jspi, code, args }) => {
    if (host !== null) {
      return host.run(code, args);
    }
    host = await PythonHost.start(jspi);
    return null;
  };
  globalThis.onmessage = ({ data }) =>
    answer(data).then(
      (value) => postMessage({ value }),
      (error) => postMessage({ error: String(error) }),
    );
}
