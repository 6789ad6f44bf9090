/** The licences of what the page uses, from the list that is served beside it. */

/** @typedef {{ name: string, licence: string, package: string }} Licence */

/**
 * Adds the list to the footer; a page without one stays usable and says so.
 *
 * @param {HTMLElement} place
 */
export async function showLicences(place) {
  const response = await fetch(new URL("licences.json", import.meta.url)).catch(
    () => null,
  );
  if (!response?.ok) {
    const note = document.createElement("p");
    note.textContent = "The list of licences could not be loaded.";
    place.append(note);
    return;
  }
  const list = document.createElement("ul");
  for (const { name, licence, package: source } of /** @type {Licence[]} */ (
    await response.json()
  )) {
    const item = document.createElement("li");
    const title = document.createElement("b");
    title.textContent = name;
    item.append(title, ` ${licence}`, source ? `, from ${source}` : "");
    list.append(item);
  }
  place.append(list);
}
