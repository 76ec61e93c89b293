// Given: each text that was put together for a model, and what it rests on.

import { call, state } from "/files/data.js";
import { empty, h, link, stored, table, time, word } from "/files/dom.js";
import { brief } from "/files/now.js";
import { section } from "/files/session.js";

const PAGE = 1500;

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
  const { pack } = await call("why", { pack: id }, signal);
  const sources = await Promise.all(pack.rests_on.slice(0, 60).map(async (source) => {
    if (!source.position) return { source };
    const found = await call("read_events", { from: source.position, limit: 1 }, signal).catch(() => null);
    return { source, event: found?.events[0] };
  }));
  const next = pack.session
    ? await call("timeline", { session: pack.session, after: pack.position, until: pack.position + 400, limit: 400 }, signal).catch(() => null)
    : null;
  return [
    h("h1", {}, "Given: ", word(pack.made_for, 40)),
    h("p", {}, time(pack.at), ", ", word(pack.agent || "a person", 40), `, ${pack.tokens} tokens of at most ${pack.max_tokens}. `,
      link(`/event/${pack.position}`, `event ${pack.position}`), pack.session ? [" ", link(`/session/${encodeURIComponent(pack.session)}`, "its session")] : null),
    section("Sections", table("Tokens of each section", ["Section", "Tokens"], pack.sections.map((one) => [one.name, one.tokens]))),
    section("What it rests on, in the order of the text", sources.length ? sources.map(({ source, event }) => h("article", { class: "message" },
      h("header", {}, h("strong", {}, source.kind), " ", word(source.id, 80), " ", source.at ? time(source.at) : "", " ",
        source.position ? link(`/event/${source.position}`, `event ${source.position}`) : h("span", { class: "quiet" }, "forgotten")),
      event ? stored(brief(event.payload)) : null)) : empty("It rests on nothing that was recorded.", "It had only the message and its instruction.")),
    next?.marks.length ? section("What the session did next", h("ol", {}, next.marks.filter((mark) => mark.kind !== "other").slice(0, 12).map((mark) =>
      h("li", {}, link(`/event/${mark.position}`, mark.kind, mark.tool ? ` (${mark.tool})` : ""), " ", time(mark.ms))))) : null,
  ];
}
