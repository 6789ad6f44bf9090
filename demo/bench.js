/**
 * The benchmark page. Options come from the form or from the address:
 * `bench.html?model=all&batch=1,8&half&variant=NAME&most_extent=64&report` starts at once, and
 * `report` posts what the worker finds to /report, the last body with `done: true`.
 */

/** @typedef {import("./bench_worker.js").Row} Row */
/** @typedef {import("./bench_worker.js").Report} Report */

const MODELS = ["resnet50", "mobilenetv3_large", "dbnet_r18"];

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const form = /** @type {HTMLFormElement} */ (element("choice"));
const query = new URLSearchParams(location.search);

for (const input of form.elements) {
  const field = /** @type {HTMLInputElement} */ (input);
  if (!query.has(field.name)) continue;
  if (field.type === "checkbox") field.checked = true;
  else field.value = query.get(field.name) ?? "";
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  start();
});
if (query.has("model")) start();

function start() {
  const values = new FormData(form);
  const model = String(values.get("model"));
  const runs = [];
  for (const name of model === "all" ? MODELS : [model]) {
    for (const batch of String(values.get("batch")).split(",")) {
      runs.push({
        model: name,
        batch: Number(batch),
        half: values.has("half"),
        variant: String(values.get("variant")) || null,
        most_extent: Number(values.get("most_extent")) || null,
      });
    }
  }
  element("rows").replaceChildren();
  element("sums").replaceChildren();
  /** @type {HTMLButtonElement} */ (element("start")).disabled = true;
  say("Starting Python");
  const worker = new Worker("bench_worker.js", { type: "module" });
  worker.onmessage = ({ data }) => receive(data, worker);
  worker.onerror = ({ message }) => receive({ type: "failed", message }, worker);
  worker.postMessage(runs);
}

/**
 * @param {any} message - see bench_worker.js
 * @param {Worker} worker
 */
function receive(message, worker) {
  if (message.type === "row") showRow(message.row);
  if (message.type === "report") showSum(message.report);
  if (message.type === "done" || message.type === "failed") {
    say(message.type === "done" ? "Done" : message.message);
    if (query.has("report")) post({ done: true, error: message.message, reports: message.reports });
    /** @type {HTMLButtonElement} */ (element("start")).disabled = false;
    worker.terminate();
  }
}

/** @param {Row} row */
function showRow(row) {
  say(`${row.model}, batch ${row.batch}: ${row.layer}`);
  const cells = [
    row.layer,
    row.variant,
    row.count,
    (row.median_ms * 1e3).toFixed(1),
    (row.min_ms * 1e3).toFixed(1),
    row.tflops.toFixed(2),
    row.error.toExponential(1),
  ];
  const line = document.createElement("tr");
  line.classList.toggle("wrong", !row.ok);
  line.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
  element("rows").append(line);
}

/** @param {Report} report */
function showSum(report) {
  const device = element("device");
  device.textContent = report.adapter || report.vendor;
  device.hidden = false;
  const item = document.createElement("li");
  const sum = `${report.sum_ms.toFixed(3)} ms for all its convolutions (${report.clock} time)`;
  item.textContent = `${report.model}, batch ${report.batch}${report.half ? ", float16" : ""}: ${sum}`;
  element("sums").append(item);
}

/** @param {string} text */
function say(text) {
  element("status").textContent = text;
}

/** @param {object} body */
function post(body) {
  void fetch("/report", { method: "POST", body: JSON.stringify(body) });
}
