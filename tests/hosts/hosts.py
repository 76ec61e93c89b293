"""The hosts that are run: their packages, their command lines, what makes them talk to the scripted model, and how they
call their tools. Everything else is the same for all of them."""
import json
import os
from dataclasses import dataclass, field
from typing import Callable

from model import SUBTASK, call, text

ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, "")
# The programs below this folder run with Node 22: with an older one, npm installs older releases of some.
NODE_PACKAGE = "node@22"

SUBTASK_PROMPT = f"{SUBTASK}: count the files of this folder."
# The file that each host writes and edits, and what its commands print.
FILE = "gateway.txt"
SUBANSWER = "There is one file."
SHELL, FAILING, SUB_SHELL = "echo hello-from-the-host", "echo gateway refused >&2; exit 3", "echo hello-from-the-subagent"
# What the agent records by itself, through MCP.
NOTED = {"tool": "lookup", "result": {"id": 730042}}


@dataclass
class Compaction:
    """A prompt that makes a host compact its conversation; without one, it does so in the middle of a turn."""
    prompt: str = None
    more: tuple = ()
    # Tokens that the conversation is said to have.
    tokens: int = None


@dataclass
class Host:
    """A host. `{folder}`, `{port}` and `{project}` are replaced in texts."""
    package: str
    # Its program, from the folder of its package.
    program: list
    # Arguments before the prompt, and those that continue the last conversation.
    args: list
    again: list
    env: dict
    # Files in the home folder, as text or as JSON.
    files: dict
    # Calls of its tools.
    shell: Callable
    edits: list
    noted: list
    # Starts a subagent, which runs `SUB_SHELL`; empty if the host has none.
    subagent: list
    # Makes the host compact its conversation; None if that cannot be done from its command line.
    compaction: "Compaction" = None
    # How the subagent ends.
    reported: dict = field(default_factory=lambda: text(SUBANSWER))
    # Whether hooks say which calls are a subagent's; otherwise they are in the agent's session.
    is_subagent_marked: bool = True
    # The option that the prompt follows, if it is not the last argument by itself.
    prompt_option: list = field(default_factory=list)
    # Arguments with which its commands run in its sandbox, which refuses Unix sockets; empty if it has none.
    boxed: list = field(default_factory=list)
    # Whether the project's files have the hooks, too: what both report must be recorded once.
    is_set_up_twice: bool = True

    def command(self, prompt, more=()):
        return [*self.program, *self.args, *more, *self.prompt_option, prompt]


def chat_settings(auth):
    """Of Gemini CLI and Qwen Code, which share their origin."""
    return {"security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}


def patch(text):
    return call("apply_patch", f"*** Begin Patch\n{text}\n*** End Patch\n", kind="custom")


NODE = "{cache}/node/node_modules/node/bin/node"
ANSWERED = "{folder}/node_modules/"
PATH = "{project}/" + FILE

CODEX_CONFIG = """model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
[analytics]
enabled = false
"""

OPENCODE_CONFIG = {
    "autoupdate": False, "model": "s/s", "small_model": "s/s", "permission": {"*": "allow"},
    "provider": {"s": {"npm": "@ai-sdk/openai-compatible",
                       "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": "dummy"},
                       "models": {"s": {"tool_call": True, "limit": {"context": 200000, "output": 8192}}}}}}

HOSTS = {
    "claude-code": Host(
        package="@anthropic-ai/claude-code@2.1.330",
        program=[f"{ANSWERED}@anthropic-ai/claude-code-linux-{ARCH}/claude"],
        # It refuses to skip permissions as root.
        args=["--model", "claude-sonnet-4-5", "--allowedTools=Bash,Write,Edit,Agent"], again=["-c"], prompt_option=["-p"],
        env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "dummy",
             "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
        files={},
        shell=lambda command: call("Bash", {"command": command, "description": "x"}),
        edits=[call("Write", {"file_path": PATH, "content": "port = 1\n"}),
               call("Edit", {"file_path": PATH, "old_string": "1", "new_string": "7311"})],
        noted=[call("ToolSearch", {"query": "select:mcp__lore__record_step"}), call("mcp__lore__record_step", NOTED)],
        subagent=[call("Agent", {"description": "Look", "prompt": SUBTASK_PROMPT, "subagent_type": "general-purpose",
                                 "run_in_background": False})],
        compaction=Compaction("/compact"),
        boxed=["--settings", json.dumps({"sandbox": {
            "enabled": True, "autoAllowBashIfSandboxed": True, "allowUnsandboxedCommands": False,
            "enableWeakerNestedSandbox": True}})]),
    "codex": Host(
        package="@openai/codex@0.169.0",
        program=[f"{ANSWERED}@openai/codex-linux-{ARCH}/vendor/{os.uname().machine}-unknown-linux-musl/bin/codex", "exec",
                 "--skip-git-repo-check",
                 # A person reviews hooks in its terminal interface.
                 "--dangerously-bypass-hook-trust"],
        args=[], again=["resume", "--last"],
        env={"SCRIPTED_KEY": "dummy"},
        files={".codex/config.toml": CODEX_CONFIG},
        shell=lambda command: call("exec_command", {"cmd": command}),
        edits=[patch(f"*** Add File: {FILE}\n+port = 1"), patch(f"*** Update File: {FILE}\n@@\n-port = 1\n+port = 7311")],
        noted=[call("record_step", NOTED, namespace="mcp__lore")],
        subagent=[call("spawn_agent", {"message": SUBTASK_PROMPT}, namespace="multi_agent_v1"),
                  call("wait_agent", {"targets": ["{agent_id}"], "timeout_ms": 60000}, namespace="multi_agent_v1")],
        compaction=Compaction("Say how it went.", more=("-c", "model_auto_compact_token_limit=1000")),
        boxed=["-c", 'sandbox_mode="workspace-write"']),
    "gemini": Host(
        package="@google/gemini-cli@0.61.0",
        program=[NODE, f"{ANSWERED}@google/gemini-cli/bundle/gemini.js"],
        # Without a model's name it asks a router first.
        args=["-m", "gemini-2.5-flash", "--approval-mode", "yolo"], again=["--resume", "latest"], prompt_option=["-p"],
        env={"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:{port}"},
        files={".gemini/settings.json": chat_settings("gemini-api-key")},
        shell=lambda command: call("run_shell_command", {"command": command, "description": "x"}),
        edits=[call("write_file", {"file_path": PATH, "content": "port = 1\n"}),
               call("replace", {"file_path": PATH, "old_string": "1", "new_string": "7311", "instruction": "x"})],
        noted=[call("mcp_lore_record_step", NOTED)],
        subagent=[call("invoke_agent", {"agent_name": "generalist", "prompt": SUBTASK_PROMPT})],
        # Its subagents end with a call, and its hooks say nothing of them.
        reported=call("complete_task", {"result": {"response": SUBANSWER}}), is_subagent_marked=False),
    "opencode": Host(
        package="opencode-ai@1.18.33",
        program=[f"{ANSWERED}opencode-linux-{ARCH}/bin/opencode", "run"], args=[], again=["-c"],
        env={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        files={".config/opencode/opencode.json": OPENCODE_CONFIG,
               # Otherwise it fetches its plugin package, and waits for minutes where no network is.
               ".config/opencode/node_modules/.keep": "",
               ".config/opencode/package-lock.json": {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}},
        shell=lambda command: call("bash", {"command": command, "description": "x"}),
        edits=[call("write", {"filePath": PATH, "content": "port = 1\n"}),
               call("edit", {"filePath": PATH, "oldString": "1", "newString": "7311"})],
        noted=[call("lore_record_step", NOTED)],
        subagent=[call("task", {"description": "Look", "prompt": SUBTASK_PROMPT, "subagent_type": "general"})],
        compaction=Compaction("Say how it went.", tokens=199000),
        # It would fetch its plugin package for the project, too.
        is_set_up_twice=False),
    "qwen": Host(
        package="@qwen-code/qwen-code@0.24.4",
        program=[NODE, f"{ANSWERED}@qwen-code/qwen-code/cli-entry.js"],
        args=["--approval-mode", "yolo"], again=["--continue"], prompt_option=["-p"],
        env={"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": "http://127.0.0.1:{port}/v1", "OPENAI_MODEL": "scripted"},
        files={".qwen/settings.json": chat_settings("openai")},
        shell=lambda command: call("run_shell_command", {"command": command, "description": "x", "is_background": False}),
        edits=[call("write_file", {"file_path": PATH, "content": "port = 1\n"}),
               call("edit", {"file_path": PATH, "old_string": "1", "new_string": "7311"})],
        noted=[call("tool_search", {"query": "select:mcp__lore__record_step"}), call("mcp__lore__record_step", NOTED)],
        subagent=[call("agent", {"description": "Look", "prompt": SUBTASK_PROMPT, "subagent_type": "general-purpose"})],
        # What it adds after /compress ends with its process.
        compaction=Compaction(tokens=174000)),
}
