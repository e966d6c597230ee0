/* What is pleasant, but not needed: suggestions while typing, and better results that come later. */
"use strict";

const MOST = 8, REST_MS = 150; // suggestions; a pause in typing before they are asked for

function suggest(box) {
  const list = document.createElement("ul");
  let chosen = -1, asked = null, waiting = 0, typed = box.value;
  list.id = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", box.getAttribute("aria-label"));
  list.hidden = true;
  box.form.append(list);
  box.type = "text"; // a search box may not be a combobox (ARIA in HTML)
  for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", list.id],
    ["aria-autocomplete", "list"]]) box.setAttribute(name, value);

  function close() {
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function show(texts) {
    list.replaceChildren(...texts.slice(0, MOST).map((text, number) => {
      const entry = document.createElement("li");
      entry.id = `suggestion-${number}`;
      entry.setAttribute("role", "option");
      entry.setAttribute("aria-selected", "false");
      entry.textContent = text;
      return entry;
    }));
    chosen = -1;
    list.hidden = !texts.length;
    box.setAttribute("aria-expanded", String(!list.hidden));
    box.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    const entries = [...list.children];
    chosen = (number + entries.length + 1) % (entries.length + 1); // one place more: what was typed
    entries.forEach((entry, each) => entry.setAttribute("aria-selected", String(each === chosen)));
    if (entries[chosen]) box.setAttribute("aria-activedescendant", entries[chosen].id);
    else box.removeAttribute("aria-activedescendant");
    box.value = entries[chosen] ? entries[chosen].textContent : typed;
  }

  async function ask() {
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(`/suggest?q=${encodeURIComponent(typed)}`, { signal: asked.signal });
      if (answer.ok && document.activeElement === box) show((await answer.json())[1]);
    } catch { /* the next key asks again */ }
  }

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(waiting);
    if (typed.trim()) waiting = setTimeout(ask, REST_MS);
    else { asked?.abort(); close(); }
  });
  box.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen < 0 ? 0 : chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? list.children.length - 1 : chosen - 1);
    else if (event.key === "Escape") { box.value = typed; close(); } else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => {
    const entry = event.target.closest("li");
    if (!entry) return;
    event.preventDefault();
    box.value = entry.textContent;
    box.form.requestSubmit();
  });
  box.addEventListener("blur", () => { clearTimeout(waiting); asked?.abort(); close(); });
  box.form.addEventListener("submit", () => { clearTimeout(waiting); asked?.abort(); close(); });
}

/* A form sent by this script is answered soon, with what there is; the rest is fetched then, and waits behind a button. */
function beQuick(form) {
  if (form.method !== "get") return;
  const quick = document.createElement("input");
  Object.assign(quick, { type: "hidden", name: "quick", value: "1" });
  form.append(quick);
}

async function fetchRest(found) {
  const addresses = (part) => [...part.querySelectorAll(".results h2 a")].map((link) => link.href);
  try {
    const answer = await fetch(found.dataset.rest);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rest = page.getElementById("found"), notice = found.querySelector(".late");
    if (!answer.ok || !rest || !notice) return;
    const shown = new Set(addresses(found));
    const count = addresses(rest).filter((address) => !shown.has(address)).length;
    if (!count) {
      notice.textContent = rest.querySelector(".tally > summary, .none")?.textContent ?? "";
      return;
    }
    const button = document.createElement("button");
    button.textContent = count === 1 ? found.dataset.betterOne : found.dataset.better.replace("{n}", count);
    button.addEventListener("click", () => { found.replaceWith(document.adoptNode(rest)); rest.focus(); });
    notice.replaceChildren(button);
  } catch { /* the page says already that something is missing */ }
}

for (const form of document.querySelectorAll("form.box")) {
  suggest(form.elements.q);
  beQuick(form);
}
function closeMenus(but) {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(but)) menu.open = false;
}
document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(null); });
/* Single keys, where the page names the one that lists them: it does not for a reader who wants none. */
async function listKeys({ keys, close }) {
  try {
    const page = new DOMParser().parseFromString(await (await fetch(keys)).text(), "text/html");
    const dialog = document.createElement("dialog"), button = document.createElement("button");
    dialog.setAttribute("aria-labelledby", "of-keys");
    button.textContent = close;
    button.autofocus = true;
    button.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    dialog.append(document.adoptNode(page.getElementById("keys")), button);
    document.body.append(dialog);
    dialog.showModal();
  } catch { /* the help page lists them, too */ }
}

function useKey(event, list) {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog")) return;
  if (target.closest?.("input, textarea, select, [contenteditable]")) return;
  const rows = [...document.querySelectorAll(".results > li")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const arrow = at < 0 || event.shiftKey ? 0 : 1; // before a result is selected, arrows scroll the page
  const step = { j: 1, k: -1, ArrowDown: arrow, ArrowUp: -arrow }[key];
  const goal = key === "/" ? document.querySelector("form.box").elements.q : step && rows[at + step]?.querySelector("h2 a");
  if (key === "?") listKeys(list.dataset);
  else if (goal) goal.focus();
  else return;
  event.preventDefault();
}
const list = document.querySelector("[data-keys]");
if (list) document.addEventListener("keydown", (event) => useKey(event, list));
const found = document.querySelector("#found[data-rest]");
if (found) fetchRest(found);
const here = new URL(location.href);
if (here.searchParams.has("quick")) { // whoever reloads or sends on this address wants all there is
  here.searchParams.delete("quick");
  history.replaceState(null, "", here);
}
