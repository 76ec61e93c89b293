// Now: a time axis with a lane for each agent and session.

import { call, state } from "/files/data.js";
import { empty, h, link, show, stored, time, word } from "/files/dom.js";

// Marks, what they mean, and how they look: a color of the style sheet and a shape.
const KINDS = {
  prompt: ["Prompt", "--prompt", "bar"],
  message: ["Message", "--message", "dot"],
  step: ["Step", "--step", "dot"],
  failure: ["Failure", "--failure", "cross"],
  edit: ["Edit", "--edit", "square"],
  checkpoint: ["Checkpoint", "--checkpoint", "diamond"],
  compaction: ["Compaction", "--compaction", "bar"],
  injection: ["Given to a model", "--injection", "triangle"],
  session: ["Begin or end", "--session", "square"],
  other: ["Other", "--other", "dot"],
};
// Each has a bit, too.
Object.values(KINDS).forEach((kind, number) => kind.push(1 << number));
// Tools of hosts that change files.
const EDITS = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "edit", "write", "replace", "write_file", "edit_file"]);
// Marks that are loaded: a day of a busy machine.
const MARKS_MAX = 20000;
const PAGE = 1500;
const LANE = 34;
const LABELS = 190;
const AXIS = 26;
const DAY = 24 * 3600 * 1000;

export const now = { title: "Now", render };

async function render({ query, signal, own }) {
  const project = query.get("project") || undefined;
  const [projects, names] = await Promise.all([projectNames(signal), sessionNames(signal)]);
  const timeline = new Timeline(project, names, signal);
  await timeline.load();
  own.update = () => timeline.follow().catch(() => {});
  signal.addEventListener("abort", () => timeline.end());
  const filter = h("label", {}, "Project ",
    h("select", { onchange: (event) => go(event.target.value ? `/now?project=${encodeURIComponent(event.target.value)}` : "/now") },
      h("option", { value: "" }, "All projects"),
      projects.map((one) => h("option", { value: one, selected: one === project }, one))));
  return [
    h("h1", {}, state.asOf === null ? "Now" : `As of position ${state.asOf}`),
    h("div", { class: "bar" }, filter, timeline.legend()),
    timeline.element,
  ];
}

function go(path) {
  dispatchEvent(new CustomEvent("lore-open", { detail: path }));
}

async function projectNames(signal) {
  const found = await call("list_projects", {}, signal).catch(() => ({ projects: [] }));
  return (found.projects || []).map((one) => one.project || one.project_id || one.id).filter(Boolean);
}

async function sessionNames(signal) {
  const found = await call("list_sessions", { limit: 300, state: "any" }, signal);
  return new Map(found.sessions.map((one) => [one.session, one.title || one.topic || one.first_message || one.session]));
}

// The marks, and the picture of them.
class Timeline {
  constructor(project, names, signal) {
    this.project = project;
    this.names = names;
    this.signal = signal;
    this.marks = [];
    this.lanes = [];
    this.byKey = new Map();
    this.newest = 0;
    this.hidden = new Set(["other"]);
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-describedby": "axis-help" });
    this.detail = h("div", { class: "detail", "aria-live": "polite" });
    this.list = h("div", {});
    this.element = h("div", { class: "timeline" });
    this.chosen = -1;
    this.drawing = 0;
    this.listen();
  }

  // Loads the newest marks, page by page, until a day or enough of them are here.
  async load() {
    let until = state.asOf ?? undefined;
    while (this.marks.length < MARKS_MAX) {
      const page = await call("timeline", { until, limit: PAGE, project: this.project }, this.signal);
      this.take(page, true);
      this.newest = Math.max(this.newest, state.asOf ?? page.position);
      until = page.before;
      const [oldest] = this.marks;
      const last = this.marks[this.marks.length - 1];
      const isDay = oldest && last && last.ms - oldest.ms > DAY;
      if (until === undefined || (isDay && this.marks.length > 200)) break;
      // The rest is loaded when the axis is moved there.
      if (this.marks.length >= 4 * PAGE) break;
    }
    this.earlier = until;
    this.fit();
    this.fill();
  }

  // Loads older marks when the axis shows a time before the oldest one.
  async more() {
    const isWanted = this.earlier !== undefined && this.marks.length < MARKS_MAX && this.from < (this.marks[0]?.ms ?? Infinity);
    if (!isWanted || this.isLoading) return;
    this.isLoading = true;
    try {
      const page = await call("timeline", { until: this.earlier, limit: PAGE, project: this.project }, this.signal);
      this.earlier = page.before;
      const chosen = this.marks[this.chosen];
      this.take(page, true);
      this.chosen = chosen ? this.marks.findIndex((mark) => mark.position === chosen.position) : -1;
      this.redraw();
    } catch {
      this.earlier = undefined;
    } finally {
      this.isLoading = false;
    }
    this.more();
  }

  // Loads what was recorded since.
  async follow() {
    const page = await call("timeline", { after: this.newest, limit: PAGE, project: this.project }, this.signal);
    const isAtEnd = this.to >= this.latest();
    const width = this.to - this.from;
    this.newest = page.position;
    if (page.marks.length === 0) return;
    if (page.lanes.some((lane) => lane.session && !this.names.has(lane.session))) this.names = await sessionNames(this.signal);
    this.take(page, false);
    if (this.marks.length > MARKS_MAX) this.marks.splice(0, this.marks.length - MARKS_MAX);
    if (isAtEnd) {
      this.to = this.latest() + width * 0.02;
      this.from = this.to - width;
    }
    this.fill();
  }

  take(page, isBefore) {
    const lanes = page.lanes.map((lane) => this.lane(lane));
    const marks = page.marks.map((mark) => ({
      ...mark,
      lane: lanes[mark.lane],
      kind: mark.kind === "step" && EDITS.has(mark.tool) ? "edit" : mark.kind,
    }));
    for (const mark of marks) mark.lane.last = Math.max(mark.lane.last, mark.ms);
    this.marks = isBefore ? [...marks, ...this.marks] : [...this.marks, ...marks];
    this.marks.sort((one, other) => one.ms - other.ms || one.position - other.position);
    this.lanes.sort((one, other) => other.last - one.last);
  }

  lane({ session, agent, project }) {
    const key = `${session || ""}\n${agent}`;
    let lane = this.byKey.get(key);
    if (!lane) {
      lane = { session, agent, project, last: 0 };
      this.byKey.set(key, lane);
      this.lanes.push(lane);
    }
    return lane;
  }

  latest() {
    return this.marks.length ? this.marks[this.marks.length - 1].ms : Date.now();
  }

  // Shows all marks.
  fit() {
    const last = this.latest();
    const first = this.marks.length ? this.marks[0].ms : last - DAY;
    const width = Math.max(600000, last - first);
    const room = width * 0.02;
    this.to = last + room;
    this.from = this.to - width - 2 * room;
  }

  fill() {
    if (this.marks.length === 0) {
      show(this.element, empty("Nothing has been recorded here yet.",
        "`lore setup claude-code` (or another host) records what its agents do; `lore import --from all` reads what they did before."));
      return;
    }
    if (!this.canvas.isConnected) {
      show(this.element,
        h("p", { id: "axis-help", class: "quiet" },
          "Wheel or + and - zoom, drag or arrow keys pan, [ and ] go from mark to mark, Enter opens one, 0 shows all."),
        this.canvas, this.detail, h("h2", {}, "Sessions"), this.list);
      requestAnimationFrame(() => this.draw());
    }
    show(this.list, h("ul", { class: "lanes" }, this.lanes.slice(0, 200).map((lane) => h("li", {},
      lane.session ? link(`/session/${encodeURIComponent(lane.session)}`, word(this.names.get(lane.session) || lane.session, 90)) : "outside of sessions",
      " ", h("span", { class: "quiet" }, word(lane.agent || "a person", 40), ", last ", time(lane.last))))));
    this.redraw();
  }

  legend() {
    return h("fieldset", { class: "legend" }, h("legend", {}, "Marks"), Object.entries(KINDS).map(([kind, [name, color]]) =>
      h("label", { class: `kind ${color.slice(2)}` },
        h("input", {
          type: "checkbox", checked: !this.hidden.has(kind), onchange: (event) => {
            if (event.target.checked) this.hidden.delete(kind);
            else this.hidden.add(kind);
            this.redraw();
          },
        }), h("span", { class: "swatch" }), name)));
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = this.timeAt(event.offsetX);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 400);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    }, { passive: false });
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) {
        canvas.title = this.name(this.at(event.offsetX, event.offsetY));
        return;
      }
      const by = drag.x - event.offsetX;
      if (Math.abs(by) < 3 && !drag.moved) return;
      drag.moved = true;
      drag.x = event.offsetX;
      this.pan(by / this.width());
    });
    canvas.addEventListener("pointerup", (event) => {
      const isClick = drag && !drag.moved;
      drag = null;
      if (isClick) this.choose(this.at(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("keydown", (event) => {
      const keys = {
        "+": () => this.zoom(0.8), "=": () => this.zoom(0.8), "-": () => this.zoom(1.25),
        ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
        0: () => { this.fit(); this.redraw(); },
        "[": () => this.step(-1), "]": () => this.step(1),
        Enter: () => this.chosen >= 0 && go(`/event/${this.marks[this.chosen].position}`),
      };
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    this.resize = new ResizeObserver(() => this.redraw());
    this.resize.observe(this.element);
    // The style sheet changes colors by itself, a canvas does not.
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw(), { signal: this.signal });
  }

  end() {
    this.resize.disconnect();
    cancelAnimationFrame(this.drawing);
  }

  labels() {
    return this.canvas.clientWidth < 560 ? 92 : LABELS;
  }

  width() {
    return Math.max(50, this.canvas.clientWidth - this.labels());
  }

  timeAt(x) {
    return this.from + ((x - this.labels()) / this.width()) * (this.to - this.from);
  }

  // Returns a function from times to places, which asks for no sizes: that would lay the page out for each mark.
  placer() {
    const [labels, scale, from] = [this.labels(), this.width() / (this.to - this.from), this.from];
    return (ms) => labels + (ms - from) * scale;
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const width = Math.min(400 * DAY, Math.max(1000, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.from = at - width * share;
    this.to = this.from + width;
    this.redraw();
    this.more();
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.from += by;
    this.to += by;
    this.redraw();
    this.more();
  }

  step(by) {
    let at = this.chosen < 0 ? (by > 0 ? -1 : this.marks.length) : this.chosen;
    do at += by;
    while (this.marks[at] && this.hidden.has(this.marks[at].kind));
    if (this.marks[at]) this.choose(at);
  }

  // Returns the number of the mark at a place, or -1.
  at(x, y) {
    let best = -1;
    let distance = 9;
    const lane = this.lanes[Math.floor((y - AXIS) / LANE)];
    const place = this.placer();
    const last = this.first(this.timeAt(x + distance));
    for (let number = this.first(this.timeAt(x - distance)); number < last; number += 1) {
      const mark = this.marks[number];
      if (mark.lane !== lane || this.hidden.has(mark.kind)) continue;
      const far = Math.abs(place(mark.ms) - x);
      if (far < distance) [best, distance] = [number, far];
    }
    return best;
  }

  // Returns the number of the first mark at or after a time.
  first(ms) {
    let [low, high] = [0, this.marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle].ms < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  name(number) {
    const mark = this.marks[number];
    return mark ? `${KINDS[mark.kind][0]}${mark.tool ? ` (${mark.tool})` : ""}, ${new Date(mark.ms).toLocaleString()}` : "";
  }

  // Shows what a mark is.
  async choose(number) {
    this.chosen = number;
    this.redraw();
    const mark = this.marks[number];
    if (!mark) return show(this.detail);
    if (mark.ms < this.from || mark.ms > this.to) this.pan((mark.ms - (this.from + this.to) / 2) / (this.to - this.from));
    show(this.detail, h("p", {}, h("strong", {}, KINDS[mark.kind][0]), " ", mark.tool ? word(mark.tool, 40) : "", " ", time(mark.ms), " ",
      link(`/event/${mark.position}`, `event ${mark.position}`)));
    const found = await call("read_events", { from: mark.position, limit: 1 }, this.signal).catch(() => null);
    const [event] = found?.events || [];
    if (this.chosen !== number || !event || event.position !== mark.position) return;
    this.detail.append(stored(brief(event.payload)));
  }

  redraw() {
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => this.draw());
  }

  draw() {
    const canvas = this.canvas;
    if (!canvas.isConnected) return;
    const lanes = this.lanes.slice(0, 60);
    const height = AXIS + LANE * lanes.length + 6;
    const ratio = devicePixelRatio || 1;
    canvas.height = height * ratio;
    canvas.width = canvas.clientWidth * ratio;
    canvas.style.setProperty("height", `${height}px`);
    canvas.setAttribute("aria-label", `${this.marks.length} marks in ${this.lanes.length} lanes, ${new Date(this.from).toLocaleString()} to ${new Date(this.to).toLocaleString()}`);
    const paint = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colors = new Map();
    const color = (name) => {
      if (!colors.has(name)) colors.set(name, style.getPropertyValue(name).trim());
      return colors.get(name);
    };
    paint.scale(ratio, ratio);
    paint.font = "13px system-ui, sans-serif";
    this.axis(paint, color, height);
    lanes.forEach((lane, number) => {
      const y = AXIS + LANE * number;
      paint.fillStyle = color(number % 2 ? "--back" : "--panel");
      paint.fillRect(0, y, canvas.clientWidth, LANE);
    });
    this.ticks(paint, color, height);
    const row = new Map(lanes.map((lane, number) => [lane, number]));
    paint.save();
    paint.beginPath();
    paint.rect(this.labels(), 0, this.width(), height);
    paint.clip();
    // Marks at the same place would be drawn over each other: one of a kind is enough. A bit for each kind at each half pixel.
    const across = 2 * Math.ceil(canvas.clientWidth) + 2;
    const drawn = new Uint16Array(across * lanes.length);
    const place = this.placer();
    for (let number = this.first(this.from); number < this.marks.length; number += 1) {
      const mark = this.marks[number];
      if (mark.ms > this.to) break;
      const lane = row.get(mark.lane);
      if (lane === undefined || this.hidden.has(mark.kind)) continue;
      const half = Math.round(place(mark.ms) * 2);
      const [, name, form, bit] = KINDS[mark.kind];
      if (drawn[lane * across + half] & bit && number !== this.chosen) continue;
      drawn[lane * across + half] |= bit;
      paint.fillStyle = paint.strokeStyle = color(name);
      shape(paint, form, half / 2, AXIS + LANE * lane + LANE / 2);
      if (number === this.chosen) {
        paint.strokeStyle = color("--text");
        paint.strokeRect(half / 2 - 8, AXIS + LANE * lane + 4, 16, LANE - 8);
      }
    }
    paint.restore();
    lanes.forEach((lane, number) => {
      const y = AXIS + LANE * number;
      paint.fillStyle = color("--text");
      paint.fillText(clip(this.names.get(lane.session) || lane.session || "outside of sessions", this.labels() / 7.2), 8, y + 14);
      paint.fillStyle = color("--quiet");
      paint.fillText(clip(lane.agent || "a person", this.labels() / 7.2), 8, y + 29);
    });
  }

  axis(paint, color) {
    paint.fillStyle = color("--panel");
    paint.fillRect(0, 0, this.canvas.clientWidth, AXIS);
  }

  ticks(paint, color, height) {
    const steps = [1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400].map((one) => one * 1000);
    const step = steps.find((one) => (this.to - this.from) / one < this.width() / 90) || steps[steps.length - 1];
    const zone = new Date(this.to).getTimezoneOffset() * 60000;
    paint.strokeStyle = color("--line");
    paint.fillStyle = color("--quiet");
    const place = this.placer();
    for (let at = Math.ceil((this.from - zone) / step) * step + zone; at < this.to; at += step) {
      const x = Math.round(place(at)) + 0.5;
      paint.beginPath();
      paint.moveTo(x, AXIS - 6);
      paint.lineTo(x, height);
      paint.stroke();
      const date = new Date(at);
      const text = step >= 86400000 ? date.toLocaleDateString() : date.toLocaleTimeString([], step < 60000 ? {} : { hour: "2-digit", minute: "2-digit" });
      paint.fillText(text, x + 3, AXIS - 9);
    }
  }
}

// Draws a mark.
function shape(paint, name, x, y) {
  paint.beginPath();
  if (name === "bar") paint.rect(x - 1.5, y - 11, 3, 22);
  else if (name === "square") paint.rect(x - 4, y - 4, 8, 8);
  else if (name === "diamond") polygon(paint, [[x, y - 6], [x + 6, y], [x, y + 6], [x - 6, y]]);
  else if (name === "triangle") polygon(paint, [[x, y - 6], [x + 6, y + 5], [x - 6, y + 5]]);
  else if (name === "cross") {
    paint.lineWidth = 2;
    paint.moveTo(x - 4, y - 4);
    paint.lineTo(x + 4, y + 4);
    paint.moveTo(x + 4, y - 4);
    paint.lineTo(x - 4, y + 4);
    paint.stroke();
    paint.lineWidth = 1;
    return;
  } else paint.arc(x, y, 3.5, 0, 2 * Math.PI);
  paint.fill();
}

function polygon(paint, points) {
  points.forEach(([x, y], number) => (number ? paint.lineTo(x, y) : paint.moveTo(x, y)));
  paint.closePath();
}

function clip(text, length) {
  const line = text.replace(/\s+/g, " ");
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

// The text of a payload that says most.
export function brief(payload) {
  if (payload === null || payload === undefined) return "This content was forgotten.";
  const text = payload.content ?? payload.text ?? payload.error ?? payload.result;
  return typeof text === "string" ? text.slice(0, 2000) : JSON.stringify(payload, null, 2).slice(0, 2000);
}

