#!/usr/bin/env python3
"""transcripts.py FOLDER [MEGABYTES]: writes synthetic transcripts of Claude Code and Codex into a home folder.

The sizes are those of real sessions: two thirds of the bytes are records that are passed over, results of tools have from a few
words to 60 kB, and a session has some hundred records. The same arguments write the same files.
"""
import json
import pathlib
import random
import sys

WORDS = ("price cart cents integer order total index cache retry timeout parser token field column branch merge test failed "
         "panic thread lock queue socket frame header cursor page block table row key value hash chain seal").split()


class Writer:
    """Writes the sessions."""

    def __init__(self, home, seed):
        self.home, self.random, self.number = home, random.Random(seed), 0

    def text(self, least, most):
        """Returns words of about so many bytes."""
        size = int(self.random.triangular(least, most, least))
        return " ".join(self.random.choices(WORDS, k=max(size // 6, 1)))

    def id(self):
        self.number += 1
        return f"{self.number:08x}-{self.random.getrandbits(48):012x}"

    def time(self, second):
        day, second = divmod(second, 86_400)
        month, day = divmod(day, 28)
        return (f"2026-{month % 10 + 1:02d}-{day + 1:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z")

    def claude(self, start):
        session, second, lines = self.id(), start, []
        own = {"sessionId": session, "cwd": f"/home/user/project-{self.random.randrange(20)}", "version": "2.1.330"}

        def add(kind, more):
            nonlocal second
            second += self.random.randrange(1, 30)
            lines.append(json.dumps({**own, "uuid": self.id(), "timestamp": self.time(second), "type": kind, **more}))

        for _ in range(self.random.randrange(4, 40)):
            add("user", {"promptId": self.id(), "message": {"role": "user", "content": self.text(40, 900)}})
            add("attachment", {"attachment": {"type": "prompt_snapshot", "text": self.text(2_000, 90_000)}})
            for _ in range(self.random.randrange(1, 9)):
                call, message = self.id(), self.id()
                usage = {"input_tokens": 9, "output_tokens": self.random.randrange(900), "cache_read_input_tokens": 15_000}
                content = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": self.text(12, 200)}}]
                add("assistant", {"message": {"id": message, "role": "assistant", "model": "m", "content": content,
                                              "stop_reason": "tool_use", "usage": usage}})
                add("api-request-shape", {"shape": self.text(500, 12_000)})
                output = self.text(20, 60_000)
                add("user", {"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]},
                             "toolUseResult": {"stdout": output, "stderr": ""}})
            content = [{"type": "text", "text": self.text(100, 3_000)}]
            add("assistant", {"message": {"id": self.id(), "role": "assistant", "content": content, "stop_reason": "end_turn"}})
        folder = self.home / ".claude/projects" / own["cwd"].replace("/", "-")
        return folder / f"{session}.jsonl", lines

    def codex(self, start):
        session, second = self.id(), start
        lines = []

        def add(kind, payload):
            nonlocal second
            second += self.random.randrange(1, 30)
            lines.append(json.dumps({"timestamp": self.time(second), "type": kind, "payload": payload}))

        add("session_meta", {"id": session, "cwd": f"/home/user/project-{self.random.randrange(20)}", "originator": "codex"})
        for _ in range(self.random.randrange(4, 40)):
            turn = self.id()
            add("turn_context", {"turn_id": turn, "model": "m"})
            add("event_msg", {"type": "user_message", "turn_id": turn, "message": self.text(40, 900)})
            add("world_state", {"state": self.text(2_000, 60_000)})
            for _ in range(self.random.randrange(1, 9)):
                call = self.id()
                add("response_item", {"type": "function_call", "name": "exec_command", "call_id": call,
                                      "arguments": json.dumps({"cmd": self.text(12, 200)})})
                add("response_item", {"type": "function_call_output", "call_id": call, "output": self.text(20, 60_000)})
            add("event_msg", {"type": "task_complete", "turn_id": turn, "last_agent_message": self.text(100, 3_000)})
        return self.home / ".codex/sessions/2026/03/01" / f"rollout-{session}.jsonl", lines


def main():
    home, megabytes = pathlib.Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 100
    writer, written, start = Writer(home, 1), 0, 0
    while written < megabytes * 1e6:
        path, lines = writer.claude(start) if writer.random.random() < 0.7 else writer.codex(start)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(lines) + "\n"
        path.write_text(text)
        written += len(text)
        start += 3_600
    print(f"{written / 1e6:.0f} MB in {home}")


if __name__ == "__main__":
    main()
