// Given: each text that was put together for a model, and what it rests on.

import { call, state } from "/files/data.js";
import { empty, h, link, stored, table, time, word } from "/files/dom.js";
import { section } from "/files/session.js";

const PAGE = 1500;
// Longest text whose parts are linked.
const LINKED = 400000;
const REASONS = {
  budget: "no space in the budget", share: "no space in the share of its section", suspect: "it gives orders to a model",
  duplicate: "it repeats the message", pruned: "it was pruned from the working set", quoted: "it only repeats an earlier text",
};

export const given = { title: "Given", render };

async function render({ path, query, signal }) {
  return path[0] ? one(path[0], signal) : list(query, signal);
}

async function list(query, signal) {
  const packs = [];
  let until = Number(query.get("until")) || state.asOf || undefined;
  // Packs are rare: some pages of the log are looked at for a list.
  for (let page = 0; page < 4 && packs.length < 50; page += 1) {
    const found = await call("timeline", { until, limit: PAGE }, signal);
    for (const mark of found.marks.reverse()) {
      if (mark.kind === "injection") packs.push({ ...mark, lane: found.lanes[mark.lane] });
    }
    until = found.before;
    if (until === undefined) break;
  }
  const shown = await Promise.all(packs.slice(0, 50).map(async (pack) => {
    const why = await call("why", { position: pack.position }, signal).catch(() => null);
    return { ...pack, pack: why?.pack };
  }));
  return [
    h("h1", {}, "Given to models"),
    h("p", { class: "quiet" }, "Each time that something was put together for a model: for a message, a task, or at a moment of a host."),
    shown.length ? table("Texts for models, the newest first", ["When", "For", "Agent", "Tokens", "Rests on", ""], shown.map((one) => [
      time(one.ms), word(one.pack?.made_for || "", 40), word(one.lane.agent || "a person", 40),
      one.pack ? `${one.pack.tokens} of ${one.pack.max_tokens}` : "", one.pack ? `${one.pack.rests_on.length} sources` : "",
      one.pack ? link(`/given/${encodeURIComponent(one.pack.pack)}`, "open") : link(`/event/${one.position}`, `event ${one.position}`)]))
      : empty("Nothing was given to a model in these events.", "Hooks of a host that is set up add to prompts; `lore pack` shows what a message would be given."),
    until === undefined ? null : h("p", {}, link(`/given?until=${until}`, "Earlier")),
  ];
}

async function one(id, signal) {
  const { pack } = await call("why", { pack: id, text: true }, signal);
  const next = pack.session
    ? await call("timeline", { session: pack.session, after: pack.position, until: pack.position + 400, limit: 400 }, signal).catch(() => null)
    : null;
  return [
    h("h1", {}, "Given: ", word(pack.made_for, 40)),
    h("p", {}, time(pack.at), ", ", word(pack.agent || "a person", 40), `, ${pack.tokens} tokens of at most ${pack.max_tokens}. `,
      link(`/event/${pack.position}`, `event ${pack.position}`), pack.session ? [" ", link(`/session/${encodeURIComponent(pack.session)}`, "its session")] : null),
    section("The text as the model received it", pack.text ? text(pack)
      : empty("The text is not kept.", "What it repeats was forgotten, or it is older than texts are kept (packs.text_days).")),
    pack.text?.left_out.length ? section("What was left out, and why", table("Left out", ["Event", "Part", "Why"], pack.text.left_out.map((one) => [
      link(`/event/${one.position}`, `event ${one.position}`), one.bytes ? `${one.part}, ${one.bytes} bytes` : one.part, REASONS[one.why] || one.why]))) : null,
    pack.sections.length ? section("Sections", table("Tokens of each section", ["Section", "Tokens"], pack.sections.map((one) => [one.name, one.tokens]))) : null,
    section("What it rests on, in the order of the text", pack.rests_on.length ? table("Sources", ["Kind", "Id", "Time", "Agent", "Event"], pack.rests_on.slice(0, 300).map((source) => [
      source.kind, word(source.id, 80), source.at ? time(source.at) : "", word(source.agent || "", 40),
      source.position ? link(`/event/${source.position}`, `event ${source.position}`) : "forgotten"]))
      : empty("It rests on nothing that was recorded.", "It had only the message and its instruction.")),
    next?.marks.length ? section("What the session did next", h("ol", {}, next.marks.filter((mark) => mark.kind !== "other").slice(0, 12).map((mark) =>
      h("li", {}, link(`/event/${mark.position}`, mark.kind, mark.tool ? ` (${mark.tool})` : ""), " ", time(mark.ms))))) : null,
  ];
}

// The text of a pack, each part of it with links to the events that it rests on. What is copied is the text alone.
function text(pack) {
  const { text, parts } = pack.text;
  if (text.length > LINKED) return stored(text);
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const element = h("div", { class: "stored given", dir: "auto", tabindex: "0" });
  const piece = (start, end) => stored(decoder.decode(bytes.slice(start, end)), "span");
  let from = 0;
  for (let at = 0; at < parts.length; at += 1) {
    const { start, end } = parts[at];
    if (start < from || end > bytes.length) continue;
    if (start > from) element.append(piece(from, start));
    const sources = [];
    for (; parts[at]?.start === start && parts[at].end === end; at += 1) sources.push(pack.rests_on[parts[at].source]);
    at -= 1;
    element.append(h("span", { class: "part" }, piece(start, end), h("span", { class: "sources" },
      sources.map((source) => source?.position ? [" ", link(`/event/${source.position}`, `event ${source.position}`)] : " forgotten"))));
    from = end;
  }
  if (from < bytes.length) element.append(piece(from, bytes.length));
  return element;
}
