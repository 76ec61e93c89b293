// Search: one field over everything, with filters as chips.

import { call, state } from "/files/data.js";
import { empty, h, highlighted, link, time, word } from "/files/dom.js";

const KINDS = ["document", "message", "step", "context", "checkpoint"];
const MODES = ["hybrid", "text", "vector", "semantic"];

export const search = { title: "Search", render };

async function render({ query, signal }) {
  const words = query.get("q") || "";
  const kinds = query.getAll("kind");
  const [projects, agents] = await Promise.all([
    call("list_projects", {}, signal).then((found) => found.projects, () => []),
    call("list_sessions", { limit: 300, state: "any" }, signal).then((found) => [...new Set(found.sessions.flatMap((one) => one.agents || []))].sort(), () => []),
  ]);
  const form = h("form", { role: "search", onsubmit: (event) => submit(event, query) },
    h("input", { type: "search", name: "q", value: words, "aria-label": "Words or a question", placeholder: "Words or a question" }),
    h("select", { name: "mode", "aria-label": "How to search" }, MODES.map((mode) => h("option", { value: mode, selected: mode === (query.get("mode") || "hybrid") }, mode))),
    h("select", { name: "project", "aria-label": "Project" }, h("option", { value: "" }, "All projects"),
      projects.map((one) => h("option", { value: one.project, selected: one.project === query.get("project") }, one.name))),
    h("input", { type: "date", name: "since", value: query.get("since") || "", "aria-label": "From this day on" }),
    h("button", { type: "submit" }, "Search"));
  const top = [h("h1", {}, "Search"), form, chips("Kinds", "kind", KINDS, query), agents.length ? chips("Agents", "by", agents, query) : null];
  if (!words.trim()) return [...top, empty("Search everything that was recorded.", "By words and by meaning: prompts, answers, results of tools, notes, documents, checkpoints.")];
  // A search ends at a time: that of the position.
  const last = state.asOf === null ? null : await call("read_events", { from: state.asOf, limit: 1 }, signal).then((page) => page.events[0]);
  const found = await call("search", {
    query: words, search_type: query.get("mode") || "hybrid", max_results: 20, include_content: false,
    kinds: kinds.length ? kinds : undefined, agents: query.has("by") ? query.getAll("by") : undefined, project: query.get("project") || undefined, since: query.get("since") || undefined,
    until: last?.time, next: query.get("next") || undefined,
  }, signal);
  // Times of a search are seconds.
  const results = found.results.filter((one) => state.asOf === null || one.position <= state.asOf);
  const next = new URLSearchParams(query);
  if (found.next) next.set("next", found.next);
  return [
    ...top,
    h("p", { class: "quiet" }, `${found.total} matches, searched by ${found.search_type_used}. The score says how often a hit with such matches was right on test collections.`,
      last ? [" Only what was recorded up to ", time(last.time), "."] : "", found.partial ? ` ${found.partial}` : ""),
    results.length ? h("ol", { class: "results" }, results.map(result)) : empty("Nothing matches.", "Try fewer words, another kind, or a search by meaning (vector)."),
    found.next ? h("p", {}, link(`/search?${next}`, "More")) : null,
  ];
}

// A group of filters, each on or off.
function chips(label, name, all, query) {
  const chosen = query.getAll(name);
  return h("p", { class: "chips", role: "group", "aria-label": label }, all.map((one) => {
    const isOn = chosen.includes(one);
    const address = new URLSearchParams(query);
    address.delete(name);
    address.delete("next");
    for (const other of isOn ? chosen.filter((other) => other !== one) : [...chosen, one]) address.append(name, other);
    return h("a", { href: `/search?${address}`, class: isOn ? "chip on" : "chip", "aria-pressed": String(isOn), role: "button" }, word(one, 40));
  }));
}

function result(one) {
  const text = one.content ?? one.preview ?? "";
  return h("li", {}, h("article", { class: "message" },
    h("header", {}, link(one.position ? `/event/${one.position}` : "#", word(one.title || one.id, 120)), " ",
      h("span", { class: "chip" }, one.kind), h("span", { class: "chip" }, `${Math.round(one.score * 100)} %`),
      one.suspect ? h("span", { class: "chip bad" }, "suspicious") : null, " ",
      h("span", { class: "quiet" }, word(one.agent || one.origin, 40), ", ", time(one.modified)),
      one.session ? [" ", link(`/session/${encodeURIComponent(one.session)}`, "session")] : null),
    highlighted(text, one.highlights || [])));
}

function submit(event, query) {
  event.preventDefault();
  const fields = new FormData(event.target);
  const address = new URLSearchParams();
  for (const [name, value] of fields) if (value && !(name === "mode" && value === "hybrid")) address.append(name, value);
  for (const name of ["kind", "by"]) for (const one of query.getAll(name)) address.append(name, one);
  dispatchEvent(new CustomEvent("lore-open", { detail: `/search?${address}` }));
}
