/** The licences of what the page uses, from the list that is served beside it. */

/**
 * @typedef {object} Licence
 * @property {"model" | "labels" | "picture" | "pyodide"} kind
 * @property {string} name
 * @property {string} credit
 * @property {string} licence
 * @property {string} registry
 * @property {string} package
 * @property {string} version
 */

const GROUPS = /** @type {const} */ ([
  ["Models", ["model", "labels"]],
  ["Pictures", ["picture"]],
  ["Python", ["pyodide"]],
]);

/** @type {Record<string, string>} */
const REGISTRIES = { pypi: "PyPI", npm: "npm" };

/**
 * Adds the list to the footer; a page without one stays usable and says so.
 *
 * @param {HTMLElement} place
 */
export async function showLicences(place) {
  const response = await fetch(new URL("licences.json", import.meta.url)).catch(() => null);
  if (!response?.ok) {
    const note = document.createElement("p");
    note.textContent = "The list of licences could not be loaded.";
    place.append(note);
    return;
  }
  const licences = /** @type {Licence[]} */ (await response.json());
  for (const [title, kinds] of GROUPS) {
    const members = licences.filter(({ kind }) => /** @type {readonly string[]} */ (kinds).includes(kind));
    if (members.length > 0) place.append(group(title, members));
  }
}

/**
 * @param {string} title
 * @param {Licence[]} members
 */
function group(title, members) {
  const head = document.createElement("h2");
  head.textContent = title;
  const list = document.createElement("ul");
  for (const { kind, name, credit, licence, registry, package: from, version } of members) {
    const item = document.createElement("li");
    const what = document.createElement("b");
    what.textContent = kind === "pyodide" ? `${name}, ${credit}` : credit;
    item.append(what, `, ${licence} (${REGISTRIES[registry] ?? registry} ${from} ${version})`);
    list.append(item);
  }
  const whole = document.createElement("section");
  whole.append(head, list);
  return whole;
}
