// Health: whether the daemon keeps up, what it takes, and what a person should know.

import { call, state } from "/files/data.js";
import { empty, h, link, size, stored, table, time, word } from "/files/dom.js";
import { section } from "/files/session.js";

// The worst first.
const RESULTS = ["bad", "warning", "good"];

export const health = { title: "Health", render, live: true };

async function render({ signal }) {
  const [status, suspects, timeline, doctor] = await Promise.all([
    call("status", {}, signal),
    call("list_suspects", { limit: 10 }, signal).catch(() => ({ suspects: [], more: 0 })),
    call("timeline", { limit: 1500 }, signal).catch(() => ({ lanes: [], marks: [] })),
    call("diagnose", {}, signal).catch((error) => ({ refusal: error.message })),
  ]);
  const last = new Map();
  for (const mark of timeline.marks) {
    const agent = timeline.lanes[mark.lane].agent || "a person";
    const known = last.get(agent) || {};
    last.set(agent, { ms: mark.ms, position: mark.position, given: mark.kind === "injection" ? mark.ms : known.given });
  }
  const facts = [
    ["Version", status.version], ["Position", status.position], ["Writes", status.writable ? "accepted" : "not accepted"],
    ["Every reply is on disk", status.durable ? "yes" : "no: relaxed durability"], ["Up", `${Math.round(status.uptime / 60)} minutes`],
    ["Connections", status.clients], ["Data", status.data], ["Landlock", status.confinement?.landlock],
  ];
  return [
    h("h1", {}, "Health"),
    state.asOf === null ? null : h("p", { class: "quiet" }, "Health is always of now."),
    status.warnings.length ? section("What you should know", h("ul", {}, status.warnings.map((one) => h("li", { class: "bad" }, word(one, 500)))))
      : h("p", {}, "Nothing needs your attention."),
    h("dl", { class: "facts" }, facts.filter(([, value]) => value !== undefined).map(([name, value]) => [h("dt", {}, name), h("dd", {}, word(value, 200))])),
    section("Agents", last.size ? table("The last event of each agent, and when it was last given something", ["Agent", "Last event", "Last given"], [...last].map(([agent, one]) => [
      word(agent, 60), link(`/event/${one.position}`, time(one.ms)), one.given ? time(one.given) : "not in these events"]))
      : empty("No agent has recorded anything yet.", "`lore setup` connects a host.")),
    section("What the doctor finds", doctor.findings ? table("Checks of the daemon, its folders and its machine", ["Check", "Result", "Seen", "What helps"],
      [...doctor.findings].sort((one, other) => RESULTS.indexOf(one.state) - RESULTS.indexOf(other.state)).map((one) => [
        one.check, h("span", { class: one.state === "good" ? undefined : "bad" }, one.state), word(one.seen, 400), word(one.remedy || "", 400)]))
      : empty(doctor.refusal, "`lored doctor` examines everything, also while no daemon runs.")),
    section("Followers", table("What follows the log, and how far behind it is", ["Follower", "Position", "Behind"], status.followers.map((one) => [one.name, one.position, one.lag]))),
    status.embedding ? h("p", {}, `${status.embedding.missing} texts wait for the second tier of search; ${status.embedding.embedded} have it.`) : null,
    section("Sizes", table("Sizes on disk and in memory", ["What", "Size"], Object.entries(status.sizes).map(([name, bytes]) => [name.replaceAll("_", " "), size(bytes)]))),
    doctor.findings ? section("Growth", growth(status, doctor)) : null,
    section("Counts", table("Counts", ["What", "Number"], Object.entries(status.counts).map(([name, count]) => [name.replaceAll("_", " "), count]))),
    section("Suspicious texts", suspects.suspects.length ? suspects.suspects.map((one) => h("article", { class: "message" },
      h("header", {}, h("strong", {}, one.suspicions.join(", ")), " ", word(one.source, 60), " ", time(one.at), " ", link(`/event/${one.position}`, `event ${one.position}`)),
      stored(one.excerpt))) : empty("No suspicious text waits for you.", "Texts that give orders to a model are kept from models until a person accepts them: `lore review`.")),
  ];
}

// What the last day and week brought: the events, and about how much space, if theirs are as large as all are on average.
function growth(status, doctor) {
  const { store_bytes: store = 0, index_bytes: index = 0, blob_bytes: blobs = 0 } = status.sizes;
  const each = status.position ? (store + index + blobs) / status.position : 0;
  const row = (name, events, days) => [name, events, size(Math.round(events * each)), `${size(Math.round((events * each / days) * 365))} a year`];
  return table("Events and the space that they take, about", ["Time", "Events", "Space", "At this rate"], [
    row("The last 24 hours", doctor.events_of_day, 1), row("The last seven days", doctor.events_of_week, 7)]);
}
