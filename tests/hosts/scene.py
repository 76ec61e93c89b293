"""What is played with each host, and what must hold afterwards.

A session that works, its compaction, a second session of the same host, a session of another host. What was recorded is
read from the log, what was added from the requests that reached the model.
"""
import json
import re
import shutil
import subprocess
from collections import Counter

from home import Home
from hosts import FAILING, FILE, HOSTS, SHELL, SUB_SHELL
from model import Model, text

DECISION = "We decided that the gateway listens on port 7311, because 8080 is taken."
WORK = DECISION + " Set it up in this folder."
ANSWER = "The gateway is set up; one command failed."
SUMMARY = "A summary that leaves everything out."
AFTER_COMPACTION = "What is left to do?"
SECOND = "On which port does the gateway listen?"
OTHER = "Which port did we choose for the gateway?"
CONTINUE = "Continue this work."
BOXED = "Keep in mind that the gateway is green."
# What is set up for a host is not on the path of its commands.
BOXED_SHELL = "PATH=$(dirname \"$LORE_DAEMON\"):$PATH; lore remember the gateway is green"
# Gemini CLI and Qwen Code escape what they put into their own marks.
ADDED = re.compile(r"(?:<|&lt;)lore-memory(?:>|&gt;).*?(?:<|&lt;)/lore-memory(?:>|&gt;)", re.S)


class Scene:
    """One host and the model in a home. `fired` and `reached` say what happened, for people."""

    def __init__(self, name, cache, lore, lored):
        self.name, self.host = name, HOSTS[name]
        self.model = Model()
        self.home = Home(cache, lore, lored, self.model.port)
        self.reached, self.faults, self.sessions = [], [], 2

    def play(self, partner):
        """Plays all of it. Returns a row for the table; `partner` is the other host."""
        self.home.run(["lore", "status"])
        self.home.add(self.name, self.host)
        self.work()
        if self.host.compaction:
            self.compact()
        self.ask("second session", self.name, SECOND)
        if self.host.boxed:
            self.boxed()
        if partner:
            self.home.add(partner, HOSTS[partner])
            self.ask(f"a session of {partner}", partner, OTHER)
        events = self.events()
        self.check_record(events, partner)
        self.check_doctor()
        if partner:
            self.hand_over(events, partner)
        observed = Counter(one["payload"]["what"] for one in events
                           if one["kind"] == "HostObserved" and one["payload"]["host"] == self.name)
        return {
            "fired": " ".join(f"{what}:{count}" for what, count in sorted(observed.items())),
            "recorded": " ".join(f"{kind}:{count}" for kind, count in sorted(Counter(
                {"MessageRecorded": "messages", "StepRecorded": "steps", "SessionCreated": "sessions",
                 "HostObserved": "observations", "PackMade": "receipts"}.get(one["kind"], one["kind"])
                for one in events).items())),
            "reached": self.reached, "faults": self.faults}

    # What is played

    def work(self):
        host = self.host
        subagent = [self.put(turn) for turn in host.subagent]
        turns = [host.shell(SHELL), *host.edits, host.shell(FAILING), *host.noted, *subagent, text(ANSWER)]
        self.model.play([self.put(turn) for turn in turns], [host.shell(SUB_SHELL), host.reported])
        self.run(self.name, WORK)
        self.check_added("the work", since=0)
        if subagent:
            self.check(self.model.seen("sub"), "the subagent asked the model nothing")

    def compact(self):
        since = self.position()
        how, answer = self.host.compaction, text("Nothing is left.")
        if how.prompt:
            self.model.play([text(SUMMARY, how.tokens), text(SUMMARY)])
            self.run(self.name, how.prompt, [*self.host.again, *how.more])
            self.model.play([answer])
        else:
            # The hook after the compaction is not waited for.
            turns = [self.host.shell(f"echo {count}") for count in ("one", "two", "three")]
            self.model.play([{**turns[0], "tokens": how.tokens}, *turns[1:], answer])
        self.run(self.name, AFTER_COMPACTION, self.host.again)
        blocks = self.check_added("after the compaction", since, wants=[WORK, "exit"])
        count = sum(WORK in block for block in blocks)
        self.check(count == 1, f"after the compaction: the work in flight is there {count} times")

    def ask(self, what, name, prompt):
        since = self.position()
        self.model.play([text("It is 7311.")])
        self.run(name, prompt)
        self.check_added(what, since, wants=[DECISION])

    def boxed(self):
        """A command in the host's sandbox, where no socket can be reached, records once and in its own session."""
        missing = without_sandbox()
        if missing:
            self.reached.append(f"sandbox: SKIPPED, {missing}")
            return
        since = self.position()
        self.model.play([self.put(self.host.shell(BOXED_SHELL)), text("It is green.")])
        self.run(self.name, BOXED, self.host.boxed)
        events = self.events(since)
        own = [one["session"] for one in events if one["kind"] == "MessageRecorded" and one["payload"]["content"] == BOXED]
        kept = [one["session"] for one in events if one["kind"] == "MessageRecorded" and "remembered" in one["payload"]]
        self.check(kept == own and len(own) == 1, f"sandbox: remembered in {kept}, the session is {own}")
        self.sessions += 1
        self.reached.append("sandbox: lore remember")

    def hand_over(self, events, partner):
        """The work goes to the other host and back, twice. Each agent is given what was asked first and who it is from."""
        session = next((one["session"] for one in events if one["kind"] == "MessageRecorded"
                        and one["payload"]["content"] == WORK), None)
        for count, to in enumerate([partner, self.name] * 2):
            what = f"handoff {count + 1}, to {to}"
            given = self.home.lore("handoff", session=session, to=to)["text"]
            since = self.position()
            self.model.play([text(f"Part {count + 1} is done.")])
            self.run(to, f"{given}\n\n{CONTINUE}")
            strings = []
            collect(self.model.seen("main")[-1:], strings)
            reached = [one for one in strings if f"from session {session}" in one]
            self.check(any(WORK in one for one in reached), f"{what}: what was asked did not reach the model")
            began = [one["session"] for one in self.events(since) if one["kind"] == "SessionCreated"]
            self.check(len(began) == 1, f"{what}: {len(began)} sessions began")
            if not began:
                return
            linked = [one["session"] for one in self.home.lore("get_session", session=began[0]).get("continues", [])]
            self.check(linked == [session], f"{what}: the new session continues {linked} instead of {session}")
            session = began[0]
        self.reached.append(f"handed over to {partner} and back, twice")

    def run(self, name, prompt, more=()):
        host = HOSTS[name]
        command = self.home.put(host.command(prompt, more), name)
        self.home.run(command, self.home.put(host.env))

    def put(self, turn):
        return self.home.put(turn, self.name)

    # What must hold

    def check(self, holds, fault):
        if not holds:
            self.faults.append(fault)

    def check_added(self, what, since, wants=()):
        """Compares what was added to the last request of the agent with the receipts since a position."""
        requests = self.model.seen("main")
        if not requests:
            self.faults.append(f"{what}: no request reached the model")
            return []
        strings = []
        collect(requests[-1], strings)
        blocks = [block for one in strings for block in ADDED.findall(one)]
        # Those of subagents are in requests of their own.
        events = self.events()
        of_subagents = {one["session"] for one in events if one["kind"] == "HostObserved" and "parent" in one["payload"]}
        receipts = [one["payload"]["made_for"] for one in events
                    if one["kind"] == "PackMade" and one["position"] > since and one["session"] not in of_subagents]
        self.check(len(blocks) == len(set(blocks)), f"{what}: a text was added twice")
        # What was added before a compaction is gone.
        is_plausible = len(blocks) <= len(receipts) if "compaction" in what else len(blocks) == len(receipts)
        self.check(is_plausible, f"{what}: {len(blocks)} texts and {len(receipts)} receipts")
        for wanted in wants:
            self.check(any(wanted in block for block in blocks), f"{what}: `{wanted}` was not added")
        self.reached.append(f"{what}: {len(blocks)} texts, {len(receipts)} receipts ({' '.join(receipts)})")
        return blocks

    def check_record(self, events, partner):
        sessions = {one["session"]: one["payload"].get("host") or "" for one in events if one["kind"] == "SessionCreated"}
        messages = [(one["session"], one["payload"]["sender"], one["payload"]["content"]) for one in events
                    if one["kind"] == "MessageRecorded"]
        steps = [one for one in events if one["kind"] == "StepRecorded"]
        self.check_observations(events)
        self.check_messages(messages, partner)
        own = next((session for session, _, content in messages if content == WORK), None)
        of_work = [one for one in steps if one["session"] == own]
        self.check_steps(of_work)
        is_apart = bool(self.host.subagent) and self.host.is_subagent_marked
        wanted = self.sessions + is_apart + bool(partner)
        self.check(len(sessions) == wanted, f"{len(sessions)} sessions instead of {wanted}: {sorted(sessions.values())}")
        if self.host.subagent:
            of_subagent = [one for one in steps if SUB_SHELL in str(one["payload"].get("parameters"))]
            self.check(len(of_subagent) == 1, f"the subagent's command was recorded {len(of_subagent)} times")
            self.check(all((one["session"] != own) == is_apart for one in of_subagent),
                       "the subagent's step is in the wrong session")

    def check_observations(self, events):
        """Each command began once and ended once."""
        observed = [one["payload"] for one in events if one["kind"] == "HostObserved"]
        for command in [SHELL, FAILING] + [SUB_SHELL] * bool(self.host.subagent):
            for what in ("call", "outcome"):
                count = sum(one["what"] == what and one.get("command") == command for one in observed)
                self.check(count == 1, f"`{command}`: {count} observations `{what}`")
        for what in ("compaction", "compaction-end"):
            count = sum(one["what"] == what and one["host"] == self.name for one in observed)
            wanted = int(bool(self.host.compaction))
            self.check(count == wanted, f"{count} observations `{what}`")

    def check_messages(self, messages, partner):
        prompts = [WORK, SECOND] + [OTHER] * bool(partner) + [AFTER_COMPACTION] * bool(self.host.compaction)
        for prompt in prompts:
            count = sum(sender == "user" and content == prompt for _, sender, content in messages)
            self.check(count == 1, f"the prompt `{prompt[-30:]}` was recorded {count} times")
        count = sum(sender == "assistant" and content == ANSWER for _, sender, content in messages)
        # A host may ask once more, when its subagent in the background is done: only its transcript says that.
        said = self.model.said.count(ANSWER)
        self.check(1 <= count <= said, f"the answer was recorded {count} times, and given {said} times")
        foreign = [content for _, _, content in messages if "lore-memory" in content]
        self.check(not foreign, "what lored added was recorded as a message")

    def check_steps(self, steps):
        def of(words, key="parameters"):
            return [one["payload"] for one in steps if words in str(one["payload"].get(key))]

        for what, found, success in (
                ("command", of(SHELL), True), ("failing command", of("exit 3"), False),
                ("new file", of("port = 1"), True), ("noted step", of("lookup", "tool"), True)):
            found = [one for one in found if what != "new file" or "7311" not in str(one["parameters"])]
            self.check(len(found) == 1, f"the {what} was recorded {len(found)} times")
            self.check(all(one["success"] is success for one in found), f"the {what} has the wrong outcome")
        edits = [one for one in of("7311") if FILE in str(one["parameters"])]
        self.check(len(edits) == 1, f"the edit was recorded {len(edits)} times")

    def check_doctor(self):
        findings = json.loads(self.home.run(["lore", "doctor", "--json"]))["findings"]
        seen = [one["seen"] for one in findings if one["check"] == "host " + self.name]
        self.check(len(seen) == 1 and re.search("last event 2.*last addition 2", seen[0]), f"lore doctor says: {seen}")

    # What is known

    def events(self, since=0):
        found, start = [], since + 1
        while start:
            page = self.home.lore("read_events", **{"from": start})
            found += page["events"]
            start = page.get("next")
        return found

    def position(self):
        return self.home.lore("status")["position"]


def without_sandbox():
    """Why hosts can start no sandbox here; nothing if they can."""
    missing = [program for program in ("bwrap", "socat") if not shutil.which(program)]
    if missing:
        return f"{' and '.join(missing)} not installed"
    tried = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else None


def collect(value, into):
    """All texts within a value."""
    if isinstance(value, str):
        into.append(value)
    elif isinstance(value, dict):
        for one in value.values():
            collect(one, into)
    elif isinstance(value, list):
        for one in value:
            collect(one, into)
