/** The ways in for a picture of one's own: the file button, dropping and pasting. */

/**
 * @param {HTMLInputElement} input
 * @param {HTMLElement} frame - lit while a file is dragged over the page
 * @param {(file: File) => void} take
 */
export function watchForPictures(input, frame, take) {
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) take(file);
    input.value = ""; // the same file may be chosen again
  });

  const lit = (/** @type {boolean} */ on) => frame.classList.toggle("drop", on);
  const carriesFile = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    lit(true);
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) lit(false);
  });
  addEventListener("drop", (event) => {
    lit(false);
    if (!carriesFile(event)) return;
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });

  addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    take(file);
  });
}
