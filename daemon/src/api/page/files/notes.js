// Notes: a project's context files, and who changed what in them.

import { call, callAsOf, state } from "/files/data.js";
import { empty, h, link, size, stored, table, time, word } from "/files/dom.js";
import { section } from "/files/session.js";

// Files that are read for a list of an earlier position.
const THEN_MAX = 60;

export const notes = { title: "Notes", render };

const path = (project, file, version) => `/notes?${new URLSearchParams({ project, ...(file ? { file } : {}), ...(version ? { version } : {}) })}`;

async function render({ query, signal }) {
  const project = query.get("project");
  const file = query.get("file");
  if (project && file) return one(project, file, Number(query.get("version")) || undefined, signal);
  const projects = await call("list_projects", {}, signal).then((found) => found.projects);
  const files = await Promise.all(projects.slice(0, 20).map((one) => call("list_contexts", { project_id: one.project }, signal).catch(() => ({ contexts: [] }))));
  const written = projects.slice(0, 20).flatMap((one, number) => files[number].contexts.filter((context) => context.written).map((context) => ({ ...one, context })));
  const shown = state.asOf === null ? written : await asOfThen(written.slice(0, THEN_MAX), signal);
  const rows = shown.map(({ name, project, context }) => [
    word(name, 60), link(path(project, context.file_type), word(context.file_type, 60)), context.version, size(context.bytes),
    word(context.updated_by || "", 40), context.updated_at ? time(context.updated_at) : "", context.errors ? h("span", { class: "bad" }, `${context.errors} errors`) : ""]);
  return [
    h("h1", {}, "Notes"),
    state.asOf === null ? null : h("p", { class: "quiet" }, "As of the position", written.length > THEN_MAX ? `; of ${written.length} files the first ${THEN_MAX}.` : "."),
    rows.length ? table("Context files", ["Project", "File", "Version", "Size", "By", "When", ""], rows)
      : empty("No project has notes yet.", "`lore project init` makes a project of a folder; agents write its notes with `update_context`."),
  ];
}

// Returns the files that were written at the position, in the version that they had.
async function asOfThen(written, signal) {
  const then = await Promise.all(written.map(async (one) => {
    const found = await callAsOf("get_context", { project_id: one.project, file_type: one.context.file_type }, signal).catch(() => null);
    if (!(found?.version > 0)) return null;
    const bytes = new TextEncoder().encode(found.content || "").length;
    return { ...one, context: { ...one.context, version: found.version, bytes, updated_by: found.updated_by, updated_at: found.updated_at, errors: 0 } };
  }));
  return then.filter(Boolean);
}

async function one(project, file, version, signal) {
  const [found, history] = await Promise.all([
    version ? call("get_context", { project_id: project, file_type: file, version }, signal) : callAsOf("get_context", { project_id: project, file_type: file }, signal),
    call("context_history", { project_id: project, file_type: file, limit: 50 }, signal),
  ]);
  const change = found.version > 0 ? await call("diff_context", { project_id: project, file_type: file, to: found.version }, signal).catch(() => null) : null;
  return [
    h("h1", {}, word(file, 80), " ", h("span", { class: "quiet" }, `version ${found.version}`)),
    h("p", {}, found.updated_at ? [time(found.updated_at), " by ", word(found.updated_by || "a person", 40)] : "", " ", h("span", { class: "quiet" }, word(found.path || "", 200))),
    section("Content", found.content === undefined ? empty("Nothing is written.", "An agent or a person writes it first.") : h("div", { class: "note" }, markdown(found.content))),
    change ? section("What this version changed", lines(change.diff)) : null,
    section("Versions", table("Versions, the newest first", ["Version", "When", "By", "How", "Sections"], history.versions.filter((one) => state.asOf === null || one.position <= state.asOf).map((one) => [
      link(path(project, file, one.version), one.version), time(one.at), word(one.agent, 40), one.change, word((one.changed_sections || []).join(", "), 120)]))),
  ];
}

// A unified diff, line by line.
function lines(diff) {
  return h("pre", { class: "stored diff" }, diff.split("\n").slice(0, 2000).map((line) => {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "place" : "";
    return h("span", { class: kind }, stored(line, "span"), "\n");
  }));
}

// Headings, lists, code and paragraphs as elements; everything else of Markdown, links and images above all, stays text.
function markdown(text) {
  const made = [];
  let code = null;
  let list = null;
  for (const line of text.split("\n").slice(0, 5000)) {
    if (line.startsWith("```")) {
      if (code === null) code = [];
      else {
        made.push(stored(code.join("\n")));
        code = null;
      }
      continue;
    }
    if (code !== null) {
      code.push(line);
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = /^\s*(?:[-*+]|\d+\.)\s+(.*)$/.exec(line);
    if (!item && list) {
      made.push(h("ul", {}, list));
      list = null;
    }
    if (heading) made.push(h(`h${Math.min(6, heading[1].length + 2)}`, {}, word(heading[2], 300)));
    else if (item) (list ??= []).push(h("li", {}, stored(item[1], "span")));
    else if (line.trim()) made.push(stored(line, "p"));
  }
  if (code !== null) made.push(stored(code.join("\n")));
  if (list) made.push(h("ul", {}, list));
  return made;
}
