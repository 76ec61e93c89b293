// sdk.mjs PACKAGES KIND LORE TOOLS: the TypeScript SDK as strict as it gets, against `lore mcp` over stdio.
//
// KIND is `sdk-2025-11-25` (version 1 of the SDK), `client-2025-11-25` or `client-2026-07-28` (version 2). Everything is
// listed, tools are called, results are validated by Ajv in strict mode. It prints what it did as one line of JSON, and
// fails with a line for each warning, each line on standard error, and each value that does not fit.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, kind, lore, tools] = process.argv.slice(2);
const [version, era] = [kind.split("-")[0], kind.slice(kind.indexOf("-") + 1)];
const faults = [];
const expect = (condition, what) => condition || faults.push(`expected: ${what}`);
for (const method of ["warn", "error"]) {
  console[method] = (...words) => faults.push(`console.${method}: ${words.join(" ")}`);
}
process.on("warning", (warning) => faults.push(`node: ${warning}`));

const within = (name) => createRequire(`${packages}/${name}/package.json`);
const load = (require, name) => import(pathToFileURL(require.resolve(name)));
const ofSdk = within("sdk");
const { Ajv2020 } = ofSdk("ajv/dist/2020.js");
const addFormats = ofSdk("ajv-formats");
const names =
  version === "sdk"
    ? ["client/index.js", "client/stdio.js", "validation/ajv"].map((name) => `@modelcontextprotocol/sdk/${name}`)
    : ["", "/stdio", "/validators/ajv"].map((name) => `@modelcontextprotocol/client${name}`);
const [{ Client }, { StdioClientTransport }, { AjvJsonSchemaValidator }] = await Promise.all(
  names.map((name) => load(within(version), name)),
);

// Lists of types stand only where any JSON may stand. `required` repeats names of `properties` of the whole schema.
const logger = { log() {}, warn: (...words) => faults.push(`ajv: ${words.join(" ")}`), error: (...words) => faults.push(`ajv: ${words.join(" ")}`) };
const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true, logger });
addFormats.default(ajv);

const client = new Client(
  { name: `strict-${version}`, version: "1" },
  {
    capabilities: {},
    enforceStrictCapabilities: true,
    jsonSchemaValidator: new AjvJsonSchemaValidator(ajv),
    ...(version === "client" && { versionNegotiation: { mode: era.startsWith("2026") ? { pin: era } : "legacy" } }),
  },
);
client.onerror = (error) => faults.push(`onerror: ${error}`);
// The server declares this one alone, besides updates of what is subscribed.
client.fallbackNotificationHandler = async ({ method }) =>
  expect(method === "notifications/resources/list_changed", `no ${method}`);
const transport = new StdioClientTransport({
  command: lore,
  args: ["mcp", "--tools", tools],
  env: { LORE_HOME: process.env.LORE_HOME },
  stderr: "pipe",
});
transport.stderr.on("data", (text) => faults.push(`stderr: ${text}`));

const counts = { tools: 0, prompts: 0, resources: 0, templates: 0, calls: 0, refused: 0 };
const all = async (list, key) => {
  const items = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : undefined);
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  counts[key === "resourceTemplates" ? "templates" : key] = items.length;
  return items;
};
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  counts.calls += 1;
  if (result.isError) {
    counts.refused += 1;
  }
  const validate = outputs.get(name);
  if (validate && !validate(result.structuredContent)) {
    faults.push(`${name}: ${ajv.errorsText(validate.errors)}`);
  }
  return result;
};
const refusal = async (work, what) => {
  try {
    await work();
    faults.push(`not refused: ${what}`);
  } catch {
    counts.refused += 1;
  }
};

await client.connect(transport);
const outputs = new Map();
for (const tool of await all((page) => client.listTools(page), "tools")) {
  try {
    ajv.compile(tool.inputSchema);
    if (tool.outputSchema) {
      outputs.set(tool.name, ajv.compile(tool.outputSchema));
    }
  } catch (error) {
    faults.push(`${tool.name}: ${error.message}`);
  }
}
expect(counts.tools >= 15, "15 tools");
const session = `strict-${process.pid}`;
const made = await call("create_session", { session, title: "Strict" });
expect(!made.isError, "a session");
await call("record_step", { session, tool: "search", result: { hits: [{ id: 17 }] } });
await call("record_message", { session, sender: "user", text: "The order is ORD-17." });
await call("get_step", { session, step: 1 });
await call("list_steps", { session });
await call("search", { query: "order", session });
await call("context_pack", { session, query: "order" });
await call("status", {});
await call("workflow_checkpoint_save", { sessionId: session, context: { goal: "strict" } });
await call("workflow_checkpoint_load", { sessionId: session });
await call("list_sessions", {});
for (const [name, args] of [
  ["get_step", { session, step: 99 }],
  ["get_step", { session: "nosuch", step: 1 }],
  ["record_step", { tol: "x" }],
]) {
  expect((await call(name, args)).isError, `${name} is refused`);
}
await refusal(() => client.callTool({ name: "no_such_tool", arguments: {} }), "an unknown tool");
await refusal(() => client.readResource({ uri: "lore://session/nosuch" }), "an unknown resource");
await refusal(() => client.getPrompt({ name: "nosuch" }), "an unknown prompt");
await refusal(() => client.listTools({ cursor: "nosuch" }), "an unknown cursor");

const resources = await all((page) => client.listResources(page), "resources");
await all((page) => client.listResourceTemplates(page), "resourceTemplates");
expect(resources.some((resource) => resource.uri === `lore://session/${session}`), "the session among the resources");
const read = await client.readResource({ uri: `lore://session/${session}` });
expect(read.contents[0].text.includes("Strict"), "the text of the session");
expect((await all((page) => client.listPrompts(page), "prompts")).length === 2, "two prompts");
const prompt = await client.getPrompt({ name: "resume_session", arguments: { session } });
expect(prompt.messages.length === 2, "two messages");
const completed = await client.complete({
  ref: { type: "ref/prompt", name: "resume_session" },
  argument: { name: "session", value: session },
});
expect(completed.completion.values.includes(session), "the id of the session");
await client.close();
if (faults.length) {
  process.stdout.write(faults.map((fault) => `${fault}\n`).join(""));
  process.exit(1);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
