// Session: the conversation as it reads, with its steps. Event: everything that is stored of one event.

import { call, callAsOf, state } from "/files/data.js";
import { empty, h, link, size, stored, svg, time, word } from "/files/dom.js";
import { brief } from "/files/now.js";

// Messages and steps of a page.
const PAGE = 60;

export const session = { title: "Session", render };
export const event = { title: "Event", render: renderEvent };

async function render({ path, query, signal }) {
  const [id] = path;
  if (!id) return empty("No session is named.", link("/now", "Now lists them."));
  const next = { messages: query.get("messages") || undefined, steps: query.get("steps") || undefined };
  const [about, messages, steps] = await Promise.all([
    callAsOf("get_session", { session: id }, signal),
    callAsOf("list_messages", { session: id, limit: PAGE, next: next.messages }, signal),
    callAsOf("list_steps", { session: id, limit: PAGE, next: next.steps }, signal),
  ]);
  const talk = conversation(id, messages.messages, steps.steps);
  const more = new URLSearchParams(query);
  if (messages.next) more.set("messages", messages.next);
  if (steps.next) more.set("steps", steps.next);
  return [
    h("h1", {}, word(about.title || about.topic || messages.messages[0]?.content || id, 120)),
    facts(about),
    family(about),
    about.active_entities?.length ? section("Entities", h("p", {}, about.active_entities.map((one) => [
      link(`/entities?session=${encodeURIComponent(id)}&name=${encodeURIComponent(one.name)}&kind=${encodeURIComponent(one.kind)}`, word(one.name, 60)),
      h("span", { class: "quiet" }, ` ${one.kind}, ${one.mentions} mentions; `)]))) : null,
    tokens(messages.messages, about.pruning_history || []),
    section("Conversation", talk.length ? talk : empty("Nothing was said or done in this session yet.", "Messages and steps appear here as they are recorded.")),
    messages.next || steps.next ? h("p", {}, link(`/session/${encodeURIComponent(id)}?${more}`, "Later messages and steps")) : null,
  ];
}

function facts(about) {
  const rows = [
    ["Agents", (about.agents || []).join(", ") || "a person"],
    ["State", about.state],
    ["Began", time(about.created_at)],
    ["Last event", time(about.last_activity)],
    ["Messages, steps, entities, checkpoints", `${about.messages}, ${about.steps}, ${about.entities}, ${about.checkpoints}`],
    ["Tokens of messages", about.token_usage?.total],
    ["Models", (about.models || []).map((one) => `${one.model || "unnamed"}: ${one.calls} calls, ${one.input} in, ${one.output} out`).join("; ")],
    ["Id", about.session],
  ];
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) =>
    [h("dt", {}, name), h("dd", {}, value instanceof Node ? value : word(value, 400))]));
}

// Parents, and sessions whose work this one continues or that continue it, as a small tree.
function family(about) {
  const before = [
    ...(about.parent ? [["forked from", about.parent]] : []),
    ...(about.continues || []).map((one) => ["continues", one]),
  ];
  const after = (about.continued_by || []).map((one) => ["continued by", one]);
  if (before.length + after.length === 0) return null;
  const line = ([how, one]) => h("li", {}, `${how} `, link(`/session/${encodeURIComponent(one.session)}`, word(one.session, 80)), ` at ${one.position}`);
  return section("Family", h("ul", {}, before.map(line), h("li", {}, h("strong", {}, "this session"), after.length ? h("ul", {}, after.map(line)) : null)));
}

// Tokens over time, with compactions.
function tokens(messages, prunings) {
  if (messages.length < 2) return null;
  let sum = 0;
  const points = messages.map((one) => ({ at: Date.parse(one.at), sum: (sum += one.tokens) }));
  const from = points[0].at;
  const width = Math.max(1, points[points.length - 1].at - from);
  const x = (at) => 2 + ((at - from) / width) * 596;
  const y = (value) => 78 - (value / Math.max(1, sum)) * 72;
  const line = points.map((one) => `${x(one.at).toFixed(1)},${y(one.sum).toFixed(1)}`).join(" ");
  return section("Tokens of these messages over time", svg("svg", { viewBox: "0 0 600 80", class: "plot", role: "img", "aria-label": `${sum} tokens in ${messages.length} messages, ${prunings.length} compactions` },
    svg("polyline", { points: line, class: "line" }),
    prunings.map((one) => svg("line", { x1: x(Date.parse(one.at)), x2: x(Date.parse(one.at)), y1: 4, y2: 78, class: "compaction" }))),
    h("p", { class: "quiet" }, `${sum} tokens, ${prunings.length} compactions`));
}

function conversation(id, messages, steps) {
  const said = messages.map((one) => ({ position: one.position, node: message(one) }));
  const done = steps.map((one) => ({ position: one.position, node: step(id, one) }));
  return [...said, ...done].sort((one, other) => one.position - other.position).map((one) => one.node);
}

function message(one) {
  return h("article", { class: `message ${one.sender}` },
    h("header", {}, h("strong", {}, one.sender), " ", word(one.agent || "", 40), " ", time(one.at), " ", link(`/event/${one.position}`, `event ${one.position}`),
      one.remembered ? h("span", { class: "chip" }, one.remembered) : null,
      one.pack ? [" ", link(`/given/${encodeURIComponent(one.pack)}`, "what it was given")] : null),
    stored(one.content),
    one.bytes ? h("p", { class: "quiet" }, `The beginning of ${size(one.bytes)}; the event has all of it.`) : null);
}

// A step, folded; its result is read when it is opened.
function step(id, one) {
  const inside = h("div", {}, h("p", { class: "quiet" }, "Loading…"));
  const details = h("details", { class: one.success ? "step" : "step failed" },
    h("summary", {}, h("span", { class: "chip" }, `step ${one.step}`), " ", h("strong", {}, word(one.tool, 60)), " ",
      one.success ? "" : h("span", { class: "bad" }, "failed "), word(one.purpose || one.error || "", 120), " ",
      h("span", { class: "quiet" }, time(one.at), `, ${size(one.bytes)}`)),
    inside);
  details.addEventListener("toggle", async () => {
    if (!details.open || details.dataset.read) return;
    details.dataset.read = "yes";
    try {
      const part = one.bytes > 65536 ? { from: 0, bytes_max: 65536 } : {};
      const [whole, why] = await Promise.all([
        callAsOf("get_step", { session: id, step: one.step, attempt: one.attempt, ...part }),
        call("why", { session: id, step: one.step, attempt: one.attempt }).catch(() => ({ used_by: [] })),
      ]);
      inside.replaceChildren(
        h("h3", {}, "Parameters"), stored(typeof whole.parameters === "string" ? whole.parameters : JSON.stringify(whole.parameters, null, 2)),
        h("h3", {}, whole.error ? "Error" : "Result"), stored(whole.error || whole.result),
        values(whole.extracted),
        h("p", {}, link(`/event/${one.position}`, `event ${one.position}`), why.used_by?.length
          ? [". Given to models in ", why.used_by.map((pack) => [link(`/given/${encodeURIComponent(pack.pack)}`, `pack at ${pack.position}`), " "])] : ""));
    } catch (error) {
      inside.replaceChildren(h("p", { class: "bad" }, word(error.message, 300)));
    }
  });
  return details;
}

// The values that variables such as ID_FROM_STEP_2 resolve to.
function values(extracted) {
  const rows = Object.entries(extracted || {}).filter(([, found]) => !(Array.isArray(found) && found.length === 0));
  if (rows.length === 0) return null;
  const text = (found) => (Array.isArray(found) ? found.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(", ") : JSON.stringify(found));
  return h("dl", { class: "facts" }, rows.map(([name, found]) => [h("dt", {}, name), h("dd", {}, word(text(found), 500))]));
}

async function renderEvent({ path, signal }) {
  const position = Number(path[0]);
  if (!(position >= 1)) return empty("No event is named.", "An address of an event ends with its position.");
  if (position > state.newest) return empty(`The log ends at position ${state.newest}.`, `Position ${position} may be recorded later.`);
  const found = await call("read_events", { from: position, limit: 1 }, signal);
  const [one] = found.events;
  if (!one || one.position !== position) return empty(`Event ${position} cannot be read.`, "`lore doctor` says whether the log is damaged.");
  const why = await call("why", { position }, signal).catch(() => null);
  const rows = [
    ["Time", time(one.origin?.time || one.time)], ["Agent", one.origin?.agent || one.agent || "a person"], ["Client", one.client],
    ["Project", one.project], ["Hash of the content", one.payload_hash], ["Chained hash", one.link],
  ];
  return [
    h("h1", {}, `Event ${position}: `, word(one.kind, 60)),
    h("p", {}, link(`/event/${position - 1}`, "Earlier"), " · ", link(`/event/${position + 1}`, "Later"),
      one.session ? [" · ", link(`/session/${encodeURIComponent(one.session)}`, "Its session")] : null),
    h("dl", { class: "facts" }, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value instanceof Node ? value : word(value, 300))])),
    why?.used_by?.length ? section("Given to models in", h("ul", {}, why.used_by.map((pack) => h("li", {}, link(`/given/${encodeURIComponent(pack.pack)}`, `pack at ${pack.position}`))))) : null,
    section("In short", stored(brief(one.payload))),
    section("Content", stored(one.payload === null ? "forgotten" : JSON.stringify(one.payload, null, 2))),
  ];
}

function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), children);
}

export { section };
