"""sdk.py ERA LORE TOOLS: MCP's Python SDK with warnings as errors, against `lore mcp` over stdio.

ERA is `legacy` or a version of the protocol. Everything is listed, tools are called, and the SDK validates results by the
schemas of the tools. It prints what it did as one line of JSON, and fails with a line for each warning or error that the
SDK logs, each line on standard error, and each value that does not fit.
"""
import asyncio
import collections
import json
import logging
import os
import sys
import tempfile
import warnings

from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

ERA, LORE, TOOLS = sys.argv[1:]
faults, counts = [], collections.Counter()


class Records(logging.Handler):
    def emit(self, record):
        faults.append(f"{record.name}: {record.getMessage()}")


def expect(condition, what):
    if not condition:
        faults.append(f"expected: {what}")


async def everything(request, field):
    items, cursor = [], None
    while True:
        page = await request(cursor=cursor)
        items += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            counts[field] = len(items)
            return items


async def refused(work, what):
    try:
        await work
        faults.append(f"not refused: {what}")
    except MCPError:
        counts["refused"] += 1


async def scene(client):
    outputs = {}
    for tool in await everything(client.list_tools, "tools"):
        Draft202012Validator.check_schema(tool.input_schema)
        if tool.output_schema is not None:
            Draft202012Validator.check_schema(tool.output_schema)
            outputs[tool.name] = Draft202012Validator(tool.output_schema)
    expect(counts["tools"] >= 15, "15 tools")

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        counts["calls"] += 1
        counts["refused"] += bool(result.is_error)
        if name in outputs:
            outputs[name].validate(result.structured_content)
        return result

    session = f"strict-{os.getpid()}"
    made = await call("create_session", session=session, title="Strict")
    expect(not made.is_error, "a session")
    await call("record_step", session=session, tool="search", result={"hits": [{"id": 17}]})
    await call("record_message", session=session, sender="user", text="The order is ORD-17.")
    await call("get_step", session=session, step=1)
    await call("list_steps", session=session)
    await call("search", query="order", session=session)
    await call("context_pack", session=session, query="order")
    await call("status")
    await call("workflow_checkpoint_save", sessionId=session, context={"goal": "strict"})
    await call("workflow_checkpoint_load", sessionId=session)
    await call("list_sessions")
    for name, arguments in (("get_step", {"session": session, "step": 99}), ("get_step", {"session": "nosuch", "step": 1}),
                            ("record_step", {"tol": "x"})):
        expect((await call(name, **arguments)).is_error, f"{name} is refused")
    await refused(client.call_tool("no_such_tool", {}), "an unknown tool")
    await refused(client.read_resource("lore://session/nosuch"), "an unknown resource")
    await refused(client.get_prompt("nosuch"), "an unknown prompt")
    await refused(client.list_tools(cursor="nosuch"), "an unknown cursor")
    resources = await everything(client.list_resources, "resources")
    await everything(client.list_resource_templates, "resource_templates")
    uri = f"lore://session/{session}"
    expect(any(str(one.uri) == uri for one in resources), "the session among the resources")
    read = await client.read_resource(uri)
    expect("Strict" in read.contents[0].text, "the text of the session")
    expect(len(await everything(client.list_prompts, "prompts")) == 2, "two prompts")
    prompt = await client.get_prompt("resume_session", {"session": session})
    expect(len(prompt.messages) == 2, "two messages")


async def main():
    parameters = StdioServerParameters(command=LORE, args=["mcp", "--tools", TOOLS], env={"LORE_HOME": os.environ["LORE_HOME"]})
    with tempfile.TemporaryFile("w+") as errors:
        transport = stdio_client(parameters, errlog=errors)
        async with Client(transport, mode=ERA, raise_exceptions=True, read_timeout_seconds=30) as client:
            await scene(client)
        errors.seek(0)
        faults.extend(f"stderr: {line.rstrip()}" for line in errors)


warnings.simplefilter("error")
logging.getLogger().addHandler(Records(level=logging.WARNING))
try:
    asyncio.run(main())
except Exception as error:  # Each is a fault of the scene, and the faults before it explain it.
    faults.append(f"{type(error).__name__}: {error}")
print("\n".join(faults) if faults else json.dumps(counts))
sys.exit(1 if faults else 0)
