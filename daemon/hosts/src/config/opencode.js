// lore: records what agents do, and adds what they need to know. Made by `lore setup opencode`; `--remove` deletes it.
// Nothing here may throw: a throw would end the prompt or fail the tool.
import { spawn } from "node:child_process"

const PROGRAM = process.env.LORE_PROGRAM || "lore"
const TIMEOUT_MS = 2000
const TEXT_MAX = 4 * 1024 * 1024
// Events of the bus that say something; all others are frequent.
const EVENTS = new Set([
  "session.created", "session.deleted", "session.idle", "session.error", "session.compacted",
  "permission.asked", "permission.replied", "question.asked", "question.replied", "todo.updated",
])

// Runs the hook and returns its answer; {} whatever goes wrong.
const hook = (event, payload) => new Promise((resolve) => {
  try {
    const child = spawn(PROGRAM, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
    let out = ""
    const timer = setTimeout(() => { child.kill(); resolve({}) }, TIMEOUT_MS)
    const done = () => {
      clearTimeout(timer)
      try { resolve(JSON.parse(out) || {}) } catch { resolve({}) }
    }
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => { out += part })
    child.stdin.end(JSON.stringify(payload, (key, value) =>
      typeof value === "string" && value.length > TEXT_MAX ? value.slice(0, TEXT_MAX) : value))
  } catch { resolve({}) }
})

export const Lore = async ({ directory }) => {
  const run = async (event, payload) => {
    try { return await hook(event, { ...payload, directory }) } catch { return {} }
  }
  return {
    event: async ({ event }) => {
      const part = event?.properties?.part
      const failed = event?.type === "message.part.updated" && part?.type === "tool" && part?.state?.status === "error"
      // Nothing is waited for: these events cannot carry text.
      if (EVENTS.has(event?.type) || failed) run("event", { event })
    },
    "chat.message": async (input, output) => {
      const { context } = await run("chat.message", { input, output })
      const first = output?.parts?.[0]
      if (!context || !first) return
      output.parts.push({
        type: "text", text: context, synthetic: true, id: "prt_zzzz" + Date.now(),
        sessionID: first.sessionID, messageID: first.messageID,
      })
    },
    "tool.execute.before": async (input, output) => { run("tool.execute.before", { input, output }) },
    "tool.execute.after": async (input, output) => {
      const { context } = await run("tool.execute.after", { input, output })
      if (context && typeof output?.output === "string") output.output += "\n\n" + context
    },
    "experimental.text.complete": async (input, output) => { run("experimental.text.complete", { input, output }) },
    "experimental.session.compacting": async (input, output) => {
      const { context } = await run("experimental.session.compacting", { input, output })
      if (context && Array.isArray(output?.context)) output.context.push(context)
    },
  }
}
