// The page: which view an address shows, how views change, and the keys.

import { Refused, call, enter, follow, state } from "/files/data.js";
import { h, link, show, word } from "/files/dom.js";
import { checkpoints } from "/files/checkpoints.js";
import { entities } from "/files/entities.js";
import { given } from "/files/given.js";
import { health } from "/files/health.js";
import { notes } from "/files/notes.js";
import { now } from "/files/now.js";
import { search } from "/files/search.js";
import { event, session } from "/files/session.js";

// The views of the navigation, and those that others lead to.
const VIEWS = { now, given, search, entities, checkpoints, notes, health };
const OTHERS = { session, event };
// Time in which changes are shown together, in milliseconds.
const TOGETHER = 400;

const main = document.getElementById("main");
const notice = document.getElementById("notice");
const slider = document.getElementById("position");
const asOf = document.getElementById("as-of");
const palette = document.getElementById("palette");

// The view that is shown: its module, what ends its work, and what it does with changes.
let shown = null;

start();

async function start() {
  const secret = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(secret)) {
    // The secret works once, and is in no address from here on.
    history.replaceState(null, "", location.pathname + location.search);
    try {
      await enter(secret);
    } catch (error) {
      if (!(await isIn())) return fail(error);
    }
  }
  try {
    state.newest = (await call("status")).position;
  } catch (error) {
    return fail(error);
  }
  navigation();
  follow(state.newest, changed, connected);
  addEventListener("popstate", go);
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  slider.addEventListener("input", slid);
  slider.addEventListener("change", chosen);
  document.getElementById("commands").addEventListener("click", openPalette);
  go();
}

// Returns whether this browser was let in before.
async function isIn() {
  return call("status").then(() => true, () => false);
}

function navigation() {
  const links = Object.entries(VIEWS).map(([name, view]) => h("a", { href: `/${name}`, "data-view": name }, view.title));
  show(document.getElementById("views"), links);
}

// Shows the view of the address.
async function go() {
  const address = new URL(location.href);
  const [name = "", ...rest] = address.pathname.split("/").filter(Boolean).map(decode);
  const view = VIEWS[name] || OTHERS[name] || (name === "" ? now : null);
  const at = Number(address.searchParams.get("at"));
  state.asOf = at >= 1 ? Math.min(at, state.newest) : null;
  showPosition();
  shown?.ends.abort();
  const ends = new AbortController();
  shown = { view, ends, update: null };
  for (const link of document.querySelectorAll("#views a")) {
    const isCurrent = VIEWS[link.dataset.view] === view;
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  say("");
  if (!view) {
    show(main, h("h1", {}, "There is no such view"), h("p", {}, link("/now", "Now"), " shows what happens."));
    return;
  }
  document.title = `${view.title} – lore`;
  await render(rest, address.searchParams, false);
}

async function render(path, query, again) {
  const { view, ends } = shown;
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => !again && show(main, h("p", { role: "status" }, "Loading…")), 150);
  try {
    const made = await view.render({ path, query, signal: ends.signal, own: shown });
    if (ends.signal.aborted) return;
    const top = scrollY;
    show(main, made);
    if (again) scrollTo(0, top);
    else main.focus({ preventScroll: true });
  } catch (error) {
    if (!ends.signal.aborted) fail(error);
  } finally {
    clearTimeout(slow);
    main.removeAttribute("aria-busy");
  }
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Shows an error with what helps.
function fail(error) {
  const isRefused = error instanceof Refused;
  const what = isRefused ? word(error.message, 500) : "The daemon does not answer.";
  const hint = isRefused ? word(error.hint || "", 500) : "`lore page` opens the page again.";
  main.removeAttribute("aria-busy");
  show(main, h("div", { class: "empty", role: "alert" }, h("h1", {}, what), h("p", { class: "quiet" }, hint)));
}

function say(...text) {
  notice.hidden = text.length === 0 || text[0] === "";
  show(notice, text);
}

function connected(isConnected) {
  if (!isConnected) say("The connection to the daemon is lost; it is tried again.");
  else if (notice.textContent.startsWith("The connection")) say("");
}

let waiting = null;

// Shows what was recorded: at once where a view follows, otherwise when it is asked for.
function changed(position) {
  state.newest = Math.max(state.newest, position);
  showPosition();
  if (state.asOf !== null || waiting) return;
  waiting = setTimeout(() => {
    waiting = null;
    if (shown?.update) shown.update();
    else if (shown?.view?.live) again();
    else if (shown?.view) say("Something was recorded. ", h("button", { type: "button", onclick: again }, "Show it"));
  }, TOGETHER);
}

function again() {
  const address = new URL(location.href);
  say("");
  return render(address.pathname.split("/").filter(Boolean).slice(1).map(decode), address.searchParams, true);
}

// Time.

function showPosition() {
  slider.max = String(Math.max(1, state.newest));
  if (document.activeElement !== slider) slider.value = String(state.asOf ?? state.newest);
  asOf.textContent = state.asOf === null ? "now" : `position ${state.asOf}`;
  document.body.classList.toggle("past", state.asOf !== null);
}

function slid() {
  const isNow = Number(slider.value) >= state.newest;
  asOf.textContent = isNow ? "now" : `position ${slider.value}`;
}

function chosen() {
  const address = new URL(location.href);
  const position = Number(slider.value);
  if (position >= state.newest) address.searchParams.delete("at");
  else address.searchParams.set("at", String(position));
  open(address.pathname + address.search);
}

// Addresses.

function open(path) {
  const address = new URL(path, location.href);
  if (state.asOf !== null && !address.searchParams.has("at") && address.pathname !== location.pathname) {
    address.searchParams.set("at", String(state.asOf));
  }
  history.pushState(null, "", address);
  return go();
}

function clicked(event) {
  const anchor = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!anchor || !isPlain || anchor.origin !== location.origin || anchor.hasAttribute("download")) return;
  if (anchor.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  if (palette.open) palette.close();
  open(anchor.getAttribute("href"));
}

addEventListener("lore-open", (event) => open(event.detail));

// Keys and commands.

function pressed(event) {
  const isTyping = event.target.matches?.("input, textarea, select, [contenteditable]");
  const isCommand = (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping);
  if (!isCommand) return;
  event.preventDefault();
  openPalette();
}

async function openPalette() {
  if (palette.open) return;
  const list = h("ul", { role: "listbox", id: "found", "aria-label": "Commands" });
  const field = h("input", {
    type: "search", "aria-label": "Find a view or a session, or search", placeholder: "A view, a session, or words to search for",
    autocomplete: "off", role: "combobox", "aria-controls": "found", "aria-expanded": "true",
  });
  show(palette, field, list);
  palette.showModal();
  const views = Object.entries(VIEWS).map(([name, view]) => ({ text: view.title, path: `/${name}`, what: "view" }));
  let sessions = [];
  const choose = (item) => {
    palette.close();
    open(item.path);
  };
  let items = [];
  let chosenItem = 0;
  const draw = () => {
    const words = field.value.trim().toLowerCase();
    items = [...views, ...sessions].filter((item) => item.text.toLowerCase().includes(words)).slice(0, 12);
    if (words) items.push({ text: `Search for “${field.value.trim()}”`, path: `/search?q=${encodeURIComponent(field.value.trim())}`, what: "search" });
    chosenItem = Math.min(chosenItem, Math.max(0, items.length - 1));
    show(list, items.map((item, number) => h("li", {
      role: "option", id: `found-${number}`, "aria-selected": String(number === chosenItem), onclick: () => choose(item),
    }, word(item.text, 100), h("span", { class: "quiet" }, item.what))));
    field.setAttribute("aria-activedescendant", items.length ? `found-${chosenItem}` : "");
  };
  field.addEventListener("input", () => {
    chosenItem = 0;
    draw();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") chosenItem = Math.min(chosenItem + 1, items.length - 1);
    else if (event.key === "ArrowUp") chosenItem = Math.max(chosenItem - 1, 0);
    else if (event.key === "Enter" && items[chosenItem]) return choose(items[chosenItem]);
    else return;
    event.preventDefault();
    draw();
  });
  draw();
  field.focus();
  const found = await call("list_sessions", { limit: 100, state: "any" }).catch(() => ({ sessions: [] }));
  sessions = found.sessions.map((one) => ({
    text: `${one.title || one.topic || one.first_message || one.session} (${(one.agents || []).join(", ")})`,
    path: `/session/${encodeURIComponent(one.session)}`,
    what: "session",
  }));
  if (palette.open) draw();
}
