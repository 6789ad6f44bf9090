/** The sample pictures, each with the job it is made for. */

/** @typedef {import("./protocol.js").Job} Job */
/** @typedef {{ name: string, file: string, job: Job }} Sample */

/** @type {Sample[]} */
export const SAMPLES = [
  { name: "Menu", file: "menu.svg", job: "read" },
  { name: "Coffee", file: "pictures/coffee.png", job: "classify" },
  { name: "Astronaut", file: "pictures/astronaut.png", job: "faces" },
  { name: "Cat", file: "pictures/chelsea.png", job: "classify" },
  { name: "Rocket", file: "pictures/rocket.jpg", job: "classify" },
  { name: "Camera", file: "pictures/camera.png", job: "classify" },
];

/**
 * The sample that shows a job best.
 *
 * @param {Job} job
 */
export function sampleFor(job) {
  return /** @type {Sample} */ (SAMPLES.find((sample) => sample.job === job));
}

/**
 * @param {Sample[]} samples
 * @param {(sample: Sample) => void} choose
 */
export function sampleButtons(samples, choose) {
  return samples.map((sample) => {
    const image = document.createElement("img");
    image.src = new URL(sample.file, import.meta.url).href;
    image.alt = "";
    image.decoding = "async";
    const name = document.createElement("span");
    name.textContent = sample.name;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.file = sample.file;
    button.setAttribute("aria-pressed", "false");
    button.append(image, name);
    button.onclick = () => choose(sample);
    return button;
  });
}
