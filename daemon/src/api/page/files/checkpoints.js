// Checkpoints: the list, two side by side, and the view within a budget.

import { call, state } from "/files/data.js";
import { empty, h, link, show, size, stored, table, time, word } from "/files/dom.js";
import { section } from "/files/session.js";

export const checkpoints = { title: "Checkpoints", render };

async function render({ path, query, signal }) {
  if (query.get("from") && query.get("to")) return compare(query.get("from"), query.get("to"), signal);
  if (path[0]) return one(path[0], signal);
  return list(query, signal);
}

async function list(query, signal) {
  const sessions = await call("list_sessions", { limit: 200, state: "any" }, signal).then((found) => found.sessions);
  const session = query.get("session");
  const asOf = state.asOf === null ? undefined : String(state.asOf);
  const wanted = session ? [session] : sessions.map((one) => one.session);
  const all = [];
  // Only some sessions have checkpoints: the newest ones are asked until a page is full.
  for (let at = 0; at < Math.min(wanted.length, 60) && all.length < 60; at += 10) {
    const found = await Promise.all(wanted.slice(at, at + 10).map((one) =>
      call("workflow_checkpoint_list", { sessionId: one, limit: session ? 100 : 10, asOf }, signal).catch(() => [])));
    all.push(...found.flat());
  }
  const picked = h("form", { onsubmit: submit }, table("Checkpoints, by session", ["From", "To", "Saved", "Name", "Session", "Size on disk", "Context"], all.map((one, number) => [
    h("input", { type: "radio", name: "from", value: one.checkpointId, "aria-label": `Compare from number ${number + 1}`, checked: number === 1 }),
    h("input", { type: "radio", name: "to", value: one.checkpointId, "aria-label": `Compare to number ${number + 1}`, checked: number === 0 }),
    link(`/checkpoints/${encodeURIComponent(one.checkpointId)}`, time(one.createdAt)), word(one.metadata?.name || "", 60),
    link(`/session/${encodeURIComponent(one.sessionId)}`, word(one.sessionId, 40)), size(one.sizeBytes), size(one.metadata?.contextSizeBytes)])),
  h("button", { type: "submit", disabled: all.length < 2 }, "Compare"));
  return [
    h("h1", {}, "Checkpoints"),
    all.length ? picked : empty("No checkpoint has been saved yet.", "Agents save their context with `workflow_checkpoint_save`, or with `lore checkpoint save`."),
  ];
}

function submit(event) {
  event.preventDefault();
  const fields = new FormData(event.target);
  const address = new URLSearchParams({ from: fields.get("from") || "", to: fields.get("to") || "" });
  dispatchEvent(new CustomEvent("lore-open", { detail: `/checkpoints?${address}` }));
}

async function one(id, signal) {
  const saved = await call("workflow_checkpoint_load", { checkpointId: id, maxTokens: 4000 }, signal);
  const whole = Math.max(500, saved.view?.originalTokens || 4000);
  const view = h("div", {});
  const output = h("output", {}, "4000 tokens");
  const draw = (loaded) => show(view,
    h("p", {}, `${loaded.view.tokens} of ${loaded.view.originalTokens} tokens`, loaded.view.overBudget ? ", and the critical keys alone are more" : "", "."),
    table("Keys", ["Key", "Layer", "Why", "Tokens", "In the view", "Shortened by"], loaded.view.keys.map((key) => [
      word(key.key, 60), key.layer, word(key.reason, 80), key.tokens, key.tokensInView ?? "", key.treatment || ""])),
    section("The view", stored(JSON.stringify(loaded.context, null, 2))));
  if (saved.view) draw(saved);
  const slider = h("input", { type: "range", min: "200", max: String(whole), value: String(Math.min(4000, whole)), "aria-label": "Budget in tokens" });
  slider.addEventListener("input", () => { output.textContent = `${slider.value} tokens`; });
  slider.addEventListener("change", async () => {
    const loaded = await call("workflow_checkpoint_load", { checkpointId: id, maxTokens: Number(slider.value) }, signal).catch(() => null);
    if (loaded?.view) draw(loaded);
  });
  return [
    h("h1", {}, "Checkpoint"),
    h("p", {}, time(saved.createdAt), " ", link(`/session/${encodeURIComponent(saved.sessionId)}`, "its session")),
    h("label", { class: "bar" }, "Budget ", slider, " ", output),
    view,
  ];
}

async function compare(from, to, signal) {
  const found = await call("workflow_checkpoint_diff", { from, to, limit: 300 }, signal);
  const text = (value) => (value === undefined ? "" : stored(typeof value === "string" ? value : JSON.stringify(value, null, 2)));
  const rows = [
    ...found.changed.map((one) => ["changed", one]), ...found.added.map((one) => ["added", one]), ...found.removed.map((one) => ["removed", one]),
  ].map(([how, one]) => [h("span", { class: `chip ${how}` }, how), word(one.path || "/", 120), text(one.old), text(one.new)]);
  return [
    h("h1", {}, "Two checkpoints"),
    h("p", {}, link(`/checkpoints/${encodeURIComponent(from)}`, "The first"), " · ", link(`/checkpoints/${encodeURIComponent(to)}`, "The second"), " · ",
      link(`/checkpoints?${new URLSearchParams({ from: to, to: from })}`, "the other way round")),
    rows.length ? table("Differences", ["", "Where", "Before", "After"], rows) : empty("They have the same content.", "Choose two others."),
    found.leftOut ? h("p", { class: "quiet" }, `${found.leftOut} further differences are not shown.`) : null,
  ];
}
