/**
 * The page: one picture, one job, one answer. Whatever is chosen last counts; an answer
 * to something older is kept with its picture and shown when it is chosen again.
 */

import { showFailure } from "./failures.js";
import { JobClient } from "./job_client.js";
import { showLicences } from "./licences.js";
import { Picture, UnreadablePicture, openPicture } from "./picture.js";
import { clearResult, isEmpty, sentence, showResult } from "./results.js";
import { SAMPLES, sampleButtons, sampleFor } from "./samples.js";
import { StageList, duration, showTimes, totalMs } from "./stages.js";
import { watchForPictures } from "./intake.js";

/** @typedef {import("./protocol.js").Job} Job */
/** @typedef {import("./protocol.js").FailureKind} FailureKind */

/** @type {Record<Job, string>} */
const BUSY_WORDS = {
  read: "Reading the text",
  classify: "Looking at it",
  faces: "Looking for faces",
};

const find = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const places = { list: find("results"), overlay: find("overlay") };
const stages = new StageList(find("stages"));
const client = new JobClient(onMessage);

/** @type {Picture | null} */
let picture = null;

/** @type {Job} */
let job = "read";

/** Counts the pictures asked for, so that one that opens late cannot replace a later choice. */
let choices = 0;

/** Whether a picture is being opened. */
let opening = false;

/** Whether someone chose the picture; until then each job brings its own sample. */
let chosen = false;

/** @type {string | null} the file of the sample that is shown */
let sampleShown = null;

/** @type {Map<string, Picture>} samples opened before, with their results */
const openedSamples = new Map();

/** @type {Map<number, { picture: Picture, job: Job }>} requests without an answer yet */
const pending = new Map();

/** @type {() => void} what "Try again" does */
let retry = () => run();

/** Whether an answer belongs to what is chosen now. */
const matters = (/** @type {{ picture: Picture, job: Job } | undefined} */ request) =>
  !opening && request?.picture === picture && request?.job === job;

/**
 * Takes a picture that someone chose, or the page itself.
 *
 * @param {string} name
 * @param {() => Promise<Picture>} open
 * @param {string | null} sample - the file of a sample, to mark its button
 */
async function choose(name, open, sample) {
  const choice = ++choices;
  opening = true;
  hideFailure();
  setBusy(true, `Opening ${name}`);
  try {
    const opened = await open();
    if (choice !== choices) return;
    opening = false;
    setPicture(opened);
    markSample(sample);
    run();
  } catch (error) {
    if (choice !== choices) return;
    opening = false;
    fail(error instanceof UnreadablePicture ? "picture" : "download", wording(error));
    retry = () => void choose(name, open, sample);
    resume();
  }
}

/** Goes on with the picture from before, when another one could not be opened. */
function resume() {
  const known = picture?.results.get(job);
  if (known) show(known);
  else if ([...pending.values()].some(matters)) setBusy(true, BUSY_WORDS[job]);
}

/** @param {import("./samples.js").Sample} sample */
function chooseSample({ name, file }) {
  if (file === sampleShown && !opening && find("failure").hidden) return;
  const open = async () => {
    const known = openedSamples.get(file) ?? (await openPicture(await fetchSample(file), name));
    openedSamples.set(file, known);
    return known;
  };
  void choose(name, open, file);
}

/** @param {string} file */
async function fetchSample(file) {
  const path = new URL(file, import.meta.url);
  const response = await fetch(path).catch(() => null);
  if (!response?.ok) {
    throw new Error(`${path.pathname} could not be loaded${response ? ` (HTTP ${response.status})` : ""}.`);
  }
  return response.blob();
}

/** @param {string | null} file */
function markSample(file) {
  sampleShown = file;
  for (const button of find("samples").children) {
    button.setAttribute("aria-pressed", String(button.dataset.file === file));
  }
}

/** @param {Picture} opened */
function setPicture(opened) {
  picture = opened;
  const { canvas, name, width, height, original } = opened;
  const size = `${original[0]} × ${original[1]}`;
  canvas.id = "canvas";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${name}, ${size} pixels`);
  find("canvas").replaceWith(canvas);
  find("sheet").style.setProperty("--ratio", String(width / height));
  find("frame").dataset.size = original[0] === width ? size : `${size}, used at ${width} × ${height}`;
  clearResult(places);
}

/** Runs the chosen job on the chosen picture, or shows what is known of them. */
function run() {
  if (picture === null || opening) return;
  hideFailure();
  retry = () => run();
  clearResult(places);
  find("times").hidden = true;
  const known = picture.results.get(job);
  if (known) {
    show(known);
    return;
  }
  setBusy(true, BUSY_WORDS[job]);
  stages.begin(job);
  find("stages").hidden = false;
  try {
    pending.set(client.run(job, picture), { picture, job });
  } catch (error) {
    fail("internal", wording(error));
  }
}

/** @param {import("./protocol.js").WorkerMessage} message */
function onMessage(message) {
  if (message.type === "device") {
    showDevice(message);
    return;
  }
  const request = pending.get(message.id ?? -1);
  if (message.type === "progress") {
    if (message.id === undefined || request) stages.update(message, request?.job);
    return;
  }
  pending.delete(Number(message.id));
  if (message.type === "result") {
    request?.picture.results.set(request.job, message.result);
    if (matters(request)) show(message.result);
  } else {
    if (message.restart) stages.forget();
    if (matters(request)) fail(message.kind, message.message);
  }
}

/** @param {import("./protocol.js").JobResult} result */
function show(result) {
  if (picture === null) return;
  showResult(job, result, places, picture);
  const gpu = result.ms.gpu === undefined ? "" : `, ${duration(result.ms.gpu)} of it on the GPU`;
  setBusy(false, sentence(job, result), `in ${duration(totalMs(result.ms))}${gpu}`);
  if (isEmpty(result)) places.list.append(suggestion());
  showTimes(find("times").lastElementChild, result.ms, stages.times(job));
  find("times").hidden = false;
}

/** A way on where a picture holds nothing for the job. */
function suggestion() {
  const sample = sampleFor(job);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `Try “${sample.name}”`;
  button.onclick = () => chooseSample(sample);
  return button;
}

/**
 * @param {FailureKind} kind
 * @param {string} message
 */
function fail(kind, message) {
  setBusy(false, "");
  showFailure(find("failure"), { kind, message }, { retry: () => retry(), choose: () => find("file").click() });
}

function hideFailure() {
  find("failure").hidden = true;
  find("failure").replaceChildren();
}

/**
 * @param {boolean} busy
 * @param {string} words
 * @param {string} [aside]
 */
function setBusy(busy, words, aside = "") {
  find("answer").setAttribute("aria-busy", String(busy));
  find("sweep").hidden = !busy;
  if (!busy) find("stages").hidden = true;
  const status = find("status");
  const small = document.createElement("small");
  small.textContent = aside;
  status.replaceChildren(...(words ? [busy ? `${words}…` : words] : []), ...(aside ? [" ", small] : []));
}

/** @param {import("./protocol.js").DeviceNews} news */
function showDevice({ name, software }) {
  const badge = find("device");
  badge.textContent = software ? `${name}: computes on the processor, slowly` : name;
  badge.classList.toggle("software", software);
  badge.hidden = false;
}

/** @param {unknown} error */
function wording(error) {
  return error instanceof Error ? error.message : String(error);
}

function start() {
  const jobs = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[name=job]")]);
  const linked = jobs.find((input) => `#${input.value}` === location.hash);
  if (linked) linked.checked = true;
  for (const input of jobs) {
    // Without a link the browser may have kept the choice over a reload.
    if (input.checked) job = /** @type {Job} */ (input.value);
    input.addEventListener("change", () => {
      job = /** @type {Job} */ (input.value);
      history.replaceState(null, "", `#${job}`);
      if (chosen) run();
      else chooseSample(sampleFor(job));
    });
  }
  find("samples").append(
    ...sampleButtons(SAMPLES, (sample) => {
      chosen = true;
      chooseSample(sample);
    }),
  );
  watchForPictures(find("file"), find("frame"), (file) => {
    chosen = true;
    const name = file.name || "Your picture";
    void choose(name, () => openPicture(file, name), null);
  });
  chooseSample(sampleFor(job));
  void showLicences(find("licences"));
}

start();
