// Entities: what the work is about, with history and relations.

import { call, callAsOf } from "/files/data.js";
import { empty, h, link, stored, svg, table, time, word } from "/files/dom.js";
import { section } from "/files/session.js";

export const entities = { title: "Entities", render };

function path(one, session) {
  const address = new URLSearchParams({ name: one.name, kind: one.kind });
  if (session) address.set("session", session);
  return `/entities?${address}`;
}

async function render({ query, signal }) {
  const name = query.get("name");
  return name ? one(name, query.get("kind") || undefined, query.get("session") || undefined, signal) : list(query, signal);
}

async function list(query, signal) {
  const session = query.get("session") || undefined;
  const kind = query.get("kind") || undefined;
  const found = await callAsOf("list_entities", { all: session ? undefined : true, session, kind, limit: 100, next: query.get("next") || undefined }, signal);
  const next = new URLSearchParams(query);
  if (found.next) next.set("next", found.next);
  const kinds = Object.entries(found.kinds || {});
  return [
    h("h1", {}, "Entities"),
    h("p", { class: "chips" }, kinds.map(([name, count]) => {
      const address = new URLSearchParams(query);
      if (name === kind) address.delete("kind");
      else address.set("kind", name);
      return h("a", { class: name === kind ? "chip on" : "chip", href: `/entities?${address}` }, `${name} ${count}`);
    })),
    found.entities.length ? table("Entities, the most relevant first", ["Name", "Kind", "Mentions", "Last"], found.entities.map((one) => [
      link(path(one, session), word(one.name, 80)), one.kind, one.mentions, time(one.last_mentioned)]))
      : empty("No entity has been recognised yet.", "Devices, files, issues, people and other names in messages and results appear here."),
    found.next ? h("p", {}, link(`/entities?${next}`, "More")) : null,
  ];
}

async function one(name, kind, session, signal) {
  if (!session) {
    // A name is explained by the session that mentioned it last.
    const found = await call("search", { query: name, max_results: 10 }, signal).catch(() => ({ results: [] }));
    for (const session of new Set(found.results.map((one) => one.session).filter(Boolean))) {
      const known = await one_of(name, kind, session, signal).catch(() => null);
      if (known) return known;
    }
    return empty(`No session is found that explains this entity.`, link("/entities", "All entities"));
  }
  return one_of(name, kind, session, signal);
}

async function one_of(name, kind, session, signal) {
  const found = await callAsOf("get_entity", { name, kind, session }, signal);
  const entity = found.entity;
  const relations = found.relations || [];
  return [
    h("h1", {}, word(entity.name, 100), " ", h("span", { class: "quiet" }, entity.kind)),
    h("p", {}, `${entity.mentions} mentions, first `, time(entity.first_mentioned), ", last ", time(entity.last_mentioned), ". ",
      link(`/session/${encodeURIComponent(found.session)}`, "Its session"), " ", link(`/search?q=${encodeURIComponent(entity.name)}`, "Search for it")),
    relations.length ? section("Relations", graph(entity, relations.slice(0, 14), found.session),
      table("Relations", ["Relation", "Entity", "Kind", "Times"], relations.map((one) => [word(one.relation, 40), link(path(one, found.session), word(one.name, 80)), one.kind, one.count]))) : null,
    section("Mentions, the newest first", (found.mentions || []).length ? found.mentions.map((one) => h("article", { class: "message" },
      h("header", {}, time(one.at), " ", link(`/event/${one.position}`, `event ${one.position}`)), one.snippet ? stored(one.snippet) : null))
      : empty("Its mentions were forgotten.", "What is left is its name.")),
    found.data ? section("Data of another system", stored(JSON.stringify(found.data, null, 2))) : null,
  ];
}

// The entity in the middle, and what it is related to around it.
function graph(entity, relations, session) {
  const [width, height] = [640, 300];
  const place = (number) => {
    const turn = (2 * Math.PI * number) / relations.length - Math.PI / 2;
    return [width / 2 + Math.cos(turn) * 230, height / 2 + Math.sin(turn) * 115];
  };
  const node = (x, y, one, isLink) => {
    const text = one.name.length > 24 ? `${one.name.slice(0, 23)}…` : one.name;
    const drawn = [svg("circle", { cx: x, cy: y, r: 6, class: "node" }), svg("text", { x, y: y - 11, class: "name" }, text)];
    return isLink ? svg("a", { href: path(one, session), "aria-label": `${one.kind} ${one.name}` }, drawn) : drawn;
  };
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "graph", role: "group", "aria-label": "Relations as a graph" },
    relations.map((one, number) => {
      const [x, y] = place(number);
      return svg("line", { x1: width / 2, y1: height / 2, x2: x, y2: y, class: "edge" });
    }),
    relations.map((one, number) => node(...place(number), one, true)), node(width / 2, height / 2, entity, false));
}
