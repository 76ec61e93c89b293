#!/usr/bin/env python3
"""How well search finds, measured by collections of questions whose answers are known. Run by hand.

    quality.py COLLECTIONS [--lored LORED] [--only NAME] [--first-tier] [--headings] [--wanted FILE]
    quality.py --moments

COLLECTIONS is a folder with a folder for each collection: `docs.jsonl` (id, title, text),
`queries.jsonl` (id, text, perhaps answers) and `qrels.tsv` (query, document, grade, between tabs). Each becomes a
folder of Markdown files, the title in the front matter or, with --headings, as a heading; a daemon in a home of
its own takes it in, and all queries are asked in the four modes.

Printed is nDCG@10 over all queries, the document of a chunk counting once, and where there are answers the
share of queries whose first caption holds one. FILE is a JSON object, {collection: {mode: nDCG}}: what it wants stands
beside what was found.

With --moments the judging cases of `daemon/moments` run instead: what is said at a prompt, an edit, a failure and after a
compaction, and how often nothing is. Cases that are missed are listed below their figure.
"""
import argparse
import json
import math
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

MODES = ("text", "vector", "hybrid", "semantic")
DEPTH = 10
# Chunks that are asked for, so that there are enough documents.
CHUNKS = 50
# Calls on their way at once.
IN_FLIGHT = 16


class Daemon:
    """A daemon in a home of its own, called in MCP's lines over its socket."""

    def __init__(self, program, home, first_tier):
        home.mkdir(mode=0o700)
        (home / "config.toml").write_text(f"[search]\nsecond_tier = {str(not first_tier).lower()}\n")
        environment = {"LORE_HOME": str(home), "RUST_LOG": "warn"}
        self.process = subprocess.Popen([program], env=environment, stdin=subprocess.DEVNULL)
        self.stream = self.connect(home / "run/lore.sock").makefile("rwb")
        self.id = 0
        client = {"name": "quality.py", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})
        self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def connect(self, path):
        until = time.monotonic() + 30
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(path))
                return connection
            except OSError:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > until:
                    sys.exit("the daemon does not serve")
                time.sleep(0.02)

    def send(self, message):
        self.stream.write(json.dumps(message).encode() + b"\n")
        self.stream.flush()

    def receive(self):
        while True:
            line = self.stream.readline()
            if not line:
                sys.exit("the daemon closed the connection")
            message = json.loads(line)
            if "id" in message:
                return message

    def call_all(self, name, all_arguments):
        """The replies of many calls of one operation, in their order."""
        replies, waiting = [None] * len(all_arguments), {}
        for number, arguments in enumerate(all_arguments):
            if len(waiting) == IN_FLIGHT:
                self.take(replies, waiting)
            self.id += 1
            waiting[self.id] = number
            params = {"name": name, "arguments": arguments}
            self.send({"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params})
        while waiting:
            self.take(replies, waiting)
        return replies

    def take(self, replies, waiting):
        message = self.receive()
        result = message.get("result")
        if result is None or result.get("isError"):
            sys.exit(f"refused: {message}")
        replies[waiting.pop(message["id"])] = result["structuredContent"]

    def call(self, name, **arguments):
        return self.call_all(name, [arguments])[0]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


class Collection:
    """Documents, queries and what answers them."""

    def __init__(self, folder):
        self.name = folder.name
        self.documents = lines(folder / "docs.jsonl")
        self.queries = lines(folder / "queries.jsonl")
        self.grades = {}
        for line in (folder / "qrels.tsv").read_text().splitlines():
            query, document, grade = line.split("\t")
            self.grades.setdefault(query, {})[document] = int(grade)

    def write(self, folder, as_heading):
        """Writes the documents as files named by their numbers; gives the document of each file."""
        folder.mkdir()
        files = {}
        for number, document in enumerate(self.documents):
            title, name = " ".join(document.get("title", "").split()), f"{number:06}.md"
            # What JSON quotes is quoted in YAML, too.
            above = f"# {title}\n\n" if as_heading else f"---\ntitle: {json.dumps(title)}\n---\n"
            (folder / name).write_text((above if title else "") + document["text"] + "\n", encoding="utf-8")
            files[name] = document["id"]
        return files

    def ndcg(self, query, found):
        """Discounted cumulative gain of the documents found, by the best that there could be."""
        grades = self.grades.get(query, {})

        def gain(values):
            return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(values[:DEPTH]))

        best = gain(sorted(grades.values(), reverse=True))
        return gain([grades.get(document, 0) for document in found]) / best if best else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else 0.0


def wait_until_taken_in(daemon, source, first_tier):
    """Waits until all files are taken in and every chunk has its vectors."""
    while True:
        listed = daemon.call("list_sources", source=source)["sources"][0]
        if listed["state"] == "idle" and listed.get("scanned_at"):
            break
        time.sleep(0.2)
    while True:
        index = daemon.call("get_index_summary", detail_level="comprehensive")["index"]
        is_whole = first_tier or (index["tier"] == "second" and index["embedded"] == index["units"])
        if index["lag"] == 0 and is_whole:
            return listed, index
        time.sleep(0.5)


def answers(collection, queries, replies):
    """The share of the queries with answers whose first caption holds one of them."""
    held = []
    for query, reply in zip(queries, replies):
        if query.get("answers"):
            first = reply["results"][0] if reply["results"] else {}
            caption = " ".join((first.get("caption") or {}).get("text", "").lower().split())
            held.append(float(any(" ".join(it.lower().split()) in caption for it in query["answers"])))
    return mean(held) if held else None


def score(collection, options, folder):
    """What each mode reaches."""
    documents = folder / "documents"
    files = collection.write(documents, options.headings)
    daemon = Daemon(options.lored, folder / "home", options.first_tier)
    try:
        began = time.monotonic()
        source = daemon.call("add_source", path=str(documents), watch=False)["source"]
        listed, index = wait_until_taken_in(daemon, source, options.first_tier)
        print(
            f"{collection.name}: {listed['documents']} of {len(files)} documents, {listed['chunks']} chunks, "
            f"{index['model']} ({index['tier']} tier), taken in after {time.monotonic() - began:.1f} s",
            flush=True,
        )
        scores = {}
        for mode in MODES:
            asked = [
                {"query": query["text"], "search_type": mode, "max_results": CHUNKS, "include_content": False}
                for query in collection.queries
            ]
            began = time.monotonic()
            replies = daemon.call_all("search_documents", asked)
            took = (time.monotonic() - began) / len(asked)
            found = []
            for query, reply in zip(collection.queries, replies):
                if reply["search_type_used"] != mode or reply.get("partial"):
                    sys.exit(f"not searched as asked: {reply.get('reason') or reply.get('partial')}")
                ranked = list(dict.fromkeys(files[result["file_name"]] for result in reply["results"]))
                found.append(collection.ndcg(query["id"], ranked))
            scores[mode] = mean(found)
            print(f"  {mode}: {scores[mode]:.4f}, {took * 1000:.1f} ms a query", flush=True)
        held = answers(collection, collection.queries, replies)
        return scores, held
    finally:
        daemon.end()


def moments():
    """Prints the figures of the judging cases of moments."""
    root = pathlib.Path(__file__).resolve().parent.parent
    command = ["cargo", "test", "-p", "lored-moments", "--lib", "--", "--nocapture", "--test-threads=1", "figures_"]
    run = subprocess.run(command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in run.stdout.splitlines():
        line = line.split("... ", 1)[-1]
        if " of " in line or line.startswith("    ") or run.returncode:
            print(line)
    sys.exit(run.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=pathlib.Path, nargs="?")
    parser.add_argument("--lored", default="lored")
    parser.add_argument("--only", help="one collection's name")
    parser.add_argument("--first-tier", action="store_true", help="without the second tier of models")
    parser.add_argument("--headings", action="store_true", help="titles as headings, not in the front matter")
    parser.add_argument("--wanted", type=pathlib.Path, help="what is to be reached")
    parser.add_argument("--moments", action="store_true", help="the judging cases of moments instead")
    options = parser.parse_args()
    if options.moments:
        moments()
    if options.collections is None:
        parser.error("the folder of the collections is missing")
    wanted = json.loads(options.wanted.read_text()) if options.wanted else {}
    found = {}
    for folder in sorted(path.parent for path in options.collections.glob("*/docs.jsonl")):
        if options.only not in (None, folder.name):
            continue
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="lore-quality-"))
        try:
            found[folder.name] = score(Collection(folder), options, scratch)
        finally:
            shutil.rmtree(scratch)
    if not found:
        sys.exit(f"there is no collection in {options.collections}")
    print(f"\n{'nDCG@10':12}" + "".join(f"{name:>24}" for name in found))
    for mode in MODES:
        row = f"{mode:12}"
        for name, (scores, _) in found.items():
            aim = wanted.get(name, {}).get(mode)
            beside = "" if aim is None else f" ({scores[mode] - aim:+.4f})"
            row += f"{f'{scores[mode]:.4f}{beside}':>24}"
        print(row)
    for name, (scores, held) in found.items():
        if held is not None:
            print(f"{name}: the first caption holds the answer of {held:.1%} of the questions")
        if scores["hybrid"] < scores["text"]:
            print(f"{name}: hybrid is below text")


if __name__ == "__main__":
    main()
