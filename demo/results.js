/** Draws a job's result: shapes over the picture, and words beside it, tied together. */

/** @typedef {import("./protocol.js").Job} Job */
/** @typedef {import("./protocol.js").JobResult} JobResult */

/**
 * What can be pointed at on the picture and in the list alike.
 *
 * @typedef {object} Mark
 * @property {string} text
 * @property {number} score
 * @property {[number, number][]} corners
 * @property {[number, number][]} points
 */

/**
 * Shows a result. An empty one leaves both places empty.
 *
 * @param {Job} job
 * @param {JobResult} result
 * @param {{ list: HTMLElement, overlay: SVGSVGElement }} places
 * @param {{ width: number, height: number }} picture
 */
export function showResult(job, result, { list, overlay }, picture) {
  clearResult({ list, overlay });
  if (job === "classify") {
    list.append(bars(result.top ?? []));
    return;
  }
  const marks = marksOf(job, result);
  if (marks.length === 0) return;
  overlay.setAttribute("viewBox", `0 0 ${picture.width} ${picture.height}`);
  const shapes = marks.map((mark) => shape(mark));
  const rows = marks.map((mark) => row(mark));
  overlay.append(...shapes);
  if (job === "read") list.append(copyButton(marks.map((mark) => mark.text).join("\n")));
  const lines = document.createElement("ol");
  lines.className = job === "read" ? "lines" : "lines faces";
  lines.append(...rows);
  list.append(lines);
  tie(rows, shapes);
  walk(lines, rows);
}

/** @param {{ list: HTMLElement, overlay: SVGSVGElement }} places */
export function clearResult({ list, overlay }) {
  list.replaceChildren();
  overlay.replaceChildren();
}

/**
 * The result in one sentence.
 *
 * @param {Job} job
 * @param {JobResult} result
 */
export function sentence(job, result) {
  const count = (result.lines ?? result.faces ?? []).length;
  if (job === "classify") {
    const [best] = result.top ?? [];
    return best ? `Most likely: ${best.label} (${percent(best.score)})` : "No idea what this is";
  }
  const [one, many] = job === "read" ? ["line", "lines"] : ["face", "faces"];
  if (count === 0) return job === "read" ? "No text found in this picture" : "No face found in this picture";
  return `${count} ${count === 1 ? one : many} ${job === "read" ? "read" : "found"}`;
}

/** @param {JobResult} result */
export function isEmpty(result) {
  return [result.lines, result.top, result.faces].every((part) => !part?.length);
}

/**
 * @param {Job} job
 * @param {JobResult} result
 * @returns {Mark[]}
 */
function marksOf(job, result) {
  if (job === "read") {
    return (result.lines ?? []).map(({ text, score, box }) => ({
      text,
      score,
      corners: box,
      points: [],
    }));
  }
  return (result.faces ?? []).map(({ box: [x0, y0, x1, y1], score, points }, index) => {
    const corners = /** @type {[number, number][]} */ ([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]); // prettier-ignore
    return { text: `Face ${index + 1}`, score, corners, points };
  });
}

/** @param {Mark} mark */
function shape({ corners, points }) {
  const group = svg("g");
  const polygon = svg("polygon");
  polygon.setAttribute("points", corners.map((corner) => corner.join(",")).join(" "));
  group.append(polygon);
  for (const [x, y] of points) {
    // A line of no length with round ends is a dot whose size does not scale with the picture.
    const dot = svg("path");
    dot.setAttribute("d", `M${x} ${y}h0`);
    group.append(dot);
  }
  return group;
}

/** @param {string} name */
function svg(name) {
  return /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", name));
}

/** @param {Mark} mark */
function row({ text, score }) {
  const item = document.createElement("li");
  item.append(span("text", text), span("score", percent(score)));
  return item;
}

/** @param {{ label: string, score: number }[]} top */
function bars(top) {
  const list = document.createElement("ol");
  list.className = "guesses";
  for (const { label, score } of top) {
    const item = document.createElement("li");
    const bar = span("bar", "");
    bar.style.setProperty("--share", String(Math.min(1, Math.max(0, score))));
    item.append(span("label", label), span("score", percent(score)), bar);
    list.append(item);
  }
  return list;
}

/**
 * Pointing at a row or at its shape lights up both.
 *
 * @param {HTMLElement[]} rows
 * @param {SVGElement[]} shapes
 */
function tie(rows, shapes) {
  rows.forEach((row, index) => {
    const shape = shapes[index];
    /** @param {boolean} on */
    const light = (on) => {
      row.classList.toggle("lit", on);
      shape.classList.toggle("lit", on);
      if (on) shape.parentNode?.append(shape); // drawn last, so that neighbours do not cover it
    };
    row.addEventListener("pointerenter", () => light(true));
    row.addEventListener("pointerleave", () => light(document.activeElement === row));
    row.addEventListener("focus", () => light(true));
    row.addEventListener("blur", () => light(false));
    shape.addEventListener("pointerenter", () => row.classList.add("lit"));
    shape.addEventListener("pointerleave", () => row.classList.toggle("lit", document.activeElement === row));
    shape.addEventListener("click", () => row.focus());
  });
}

/**
 * One stop for the Tab key, arrow keys from line to line.
 *
 * @param {HTMLElement} list
 * @param {HTMLElement[]} rows
 */
function walk(list, rows) {
  rows.forEach((row, index) => (row.tabIndex = index === 0 ? 0 : -1));
  list.addEventListener("focusin", ({ target }) => {
    for (const row of rows) row.tabIndex = row === target ? 0 : -1;
  });
  list.addEventListener("keydown", (event) => {
    const here = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const last = rows.length - 1;
    const there = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    rows[Math.min(last, Math.max(0, there))].focus();
  });
}

/** @param {string} text */
function copyButton(text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy text";
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here: select the text below";
    }
    setTimeout(() => (button.textContent = "Copy text"), 2500);
  };
  return button;
}

/**
 * @param {string} name
 * @param {string} text
 */
function span(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

/** @param {number} score */
function percent(score) {
  const value = score * 100;
  return value > 0 && value < 1 ? "under 1 %" : `${Math.round(value)} %`;
}
