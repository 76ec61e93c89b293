// Makes elements. What is stored only ever becomes text: nothing here takes markup.

// Makes an element with properties and children. Children that are strings or numbers become text.
export function h(name, properties, ...children) {
  return fill(document.createElement(name), properties, children);
}

// Makes an element of SVG.
export function svg(name, properties, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function fill(element, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

// Replaces what an element has.
export function show(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

// A link to a view of this page.
export function link(path, ...text) {
  return h("a", { href: path }, ...text);
}

// Characters that turn text around or hide in it, as their numbers.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
// Longest text that is shown at once.
const SHOWN = 20000;

// Stored text, as text. Characters that would hide or reorder it are shown by their numbers; the end of a long one waits.
export function stored(text, name = "pre") {
  const whole = String(text ?? "");
  // A long text scrolls, by keys, too.
  const isLong = name === "pre" && (whole.length > 1200 || whole.split("\n", 22).length > 20);
  const element = h(name, { class: isLong ? "stored long" : "stored", dir: "auto", tabindex: isLong ? "0" : undefined });
  element.append(visible(whole.slice(0, SHOWN)));
  if (whole.length > SHOWN) {
    const rest = h("button", { type: "button", class: "more" }, `Show all ${whole.length} characters`);
    rest.addEventListener("click", () => {
      const next = element.dataset.shown ? Number(element.dataset.shown) : SHOWN;
      rest.before(visible(whole.slice(next, next + 10 * SHOWN)));
      element.dataset.shown = String(next + 10 * SHOWN);
      if (next + 10 * SHOWN >= whole.length) rest.remove();
    });
    element.append(rest);
  }
  return element;
}

// A short stored text within a line.
export function word(text, length = 200) {
  const whole = String(text ?? "").replace(/\s+/g, " ").trim();
  const cut = whole.length > length ? whole.slice(0, length) + "…" : whole;
  const element = h("bdi", { class: "word" });
  element.append(visible(cut));
  return element;
}

// Returns text whose hidden characters are elements with their numbers.
function visible(text) {
  const parts = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    parts.append(text.slice(from, found.index));
    const number = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.append(h("span", { class: "hidden-character", title: "A character that cannot be seen" }, `U+${number}`));
    from = found.index + found[0].length;
  }
  parts.append(text.slice(from));
  return parts;
}

// Text with some ranges marked, each `{start, end}` in bytes of UTF-8.
export function highlighted(text, ranges) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const element = h("p", { class: "stored", dir: "auto" });
  let from = 0;
  for (const range of ranges) {
    if (range.start < from || range.end > bytes.length) continue;
    element.append(visible(decoder.decode(bytes.slice(from, range.start))));
    element.append(h("mark", {}, visible(decoder.decode(bytes.slice(range.start, range.end)))));
    from = range.end;
  }
  element.append(visible(decoder.decode(bytes.slice(from))));
  return element;
}

// A time in the viewer's zone.
export function time(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return word(at);
  const today = new Date().toDateString() === date.toDateString();
  const text = today ? date.toLocaleTimeString() : date.toLocaleString();
  return h("time", { datetime: date.toISOString(), title: date.toLocaleString() }, text);
}

// A number of bytes.
export function size(bytes) {
  if (!(bytes >= 1024)) return `${bytes ?? 0} bytes`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

// A table: heads, and rows of cells.
export function table(caption, heads, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

// What a view without content says: what is missing, and how it comes.
export function empty(what, how) {
  return h("div", { class: "empty" }, h("p", {}, what), h("p", { class: "quiet" }, how));
}
