/** What the page says when something fails: what happened, and what to do now. */

/** @typedef {import("./protocol.js").FailureKind} FailureKind */
/** @typedef {{ title: string, advice: string[], actions: ("retry" | "choose")[] }} Words */

/** @type {Record<FailureKind, Words>} */
const WORDS = {
  "no-webgpu": {
    title: "This browser has no WebGPU, which the models run on.",
    advice: [
      "Browsers that have it: Chrome and Edge from 113 (Windows, macOS, ChromeOS) and 121 (Android), " +
        "Safari from 26, Firefox from 141 (Windows) and 145 (Macs with Apple silicon).",
      "On Linux, start Chrome with --enable-unsafe-webgpu. Browsers give WebGPU to https pages and to localhost only.",
    ],
    actions: ["retry"],
  },
  "no-adapter": {
    title: "The browser has WebGPU but offers no graphics adapter.",
    advice: [
      "Switch on hardware acceleration in the browser's settings, or update the graphics driver. " +
        "On Linux, start Chrome with --enable-unsafe-webgpu.",
    ],
    actions: ["retry"],
  },
  picture: {
    title: "This picture cannot be used.",
    advice: ["Pictures in PNG, JPEG, WebP, AVIF, GIF and SVG files work."],
    actions: ["choose"],
  },
  "device-lost": {
    title: "The graphics device went away.",
    advice: ["A driver restart or another program can cause it. A new attempt takes a new device."],
    actions: ["retry"],
  },
  download: {
    title: "A file did not arrive.",
    advice: ["Check the connection to this page's server, then try again."],
    actions: ["retry"],
  },
  internal: {
    title: "Something went wrong inside.",
    advice: ["A new attempt may work; another picture may, too."],
    actions: ["retry", "choose"],
  },
};

const LABELS = { retry: "Try again", choose: "Choose a picture" };

/**
 * Shows a failure in `place`.
 *
 * @param {HTMLElement} place
 * @param {{ kind: FailureKind, message: string }} failure
 * @param {{ retry: () => void, choose: () => void }} ways
 */
export function showFailure(place, { kind, message }, ways) {
  const { title, advice, actions } = WORDS[kind];
  const paragraphs = [title, ...(message ? [message] : []), ...advice].map((text, index) => {
    const paragraph = document.createElement(index === 0 ? "h2" : "p");
    paragraph.textContent = text;
    if (text === message) paragraph.className = "particulars";
    return paragraph;
  });
  const buttons = document.createElement("div");
  buttons.className = "actions";
  for (const action of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = LABELS[action];
    button.onclick = ways[action];
    buttons.append(button);
  }
  place.dataset.kind = kind;
  place.replaceChildren(...paragraphs, buttons);
  place.hidden = false;
}
