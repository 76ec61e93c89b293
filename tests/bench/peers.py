"""Peers of the benchmarks that are easiest to drive from Python; standard library alone.

    peers.py sqlite [--writers 16] [--bytes 1024] [--seconds 2] [--dir DIR] [--json]
        SQLite in WAL mode with synchronous=FULL: each writer is a process that inserts rows one by one.
    peers.py fts5 --texts FILE --queries FILE [--dir DIR] [--json]
        SQLite's FTS5 over a text a line: p50 and p99 of the ten best of all words, and of any.
    peers.py memory [--lore LORE] [--lored LORED] [--known 10000] [--calls 200] [--server COMMAND]
        The reference memory server (npm: @modelcontextprotocol/server-memory) and `lore mcp`, both over
        stdio, with so many entities or steps known: one more recorded, one read.
    peers.py null [--lore LORE] [--lored LORED] [--calls 2000]
        A null MCP server in Python and `lore mcp`, both over stdio: the price of one tool call.

The modelled flush reaches both through LD_PRELOAD; tests/bench/run sets it.
"""
import argparse
import contextlib
import json
import multiprocessing
import os
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

clock = time.perf_counter


def share(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


# --- SQLite --------------------------------------------------------------------------------------


def open_database(path):
    database = sqlite3.connect(path, timeout=60, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    return database


def write_rows(path, number, size, seconds, barrier, results):
    database = open_database(path)
    body = json.dumps({"id": number, "title": "x" * max(0, size - 30)})
    barrier.wait()
    times, begin = [], clock()
    warm, end = begin + seconds / 10, begin + seconds * 1.1
    while (now := clock()) < end:
        database.execute("INSERT INTO steps (session, body) VALUES (?, ?)", (number, body))
        if now >= warm:
            times.append(clock() - now)
    results.put(times)


def sqlite(options):
    folder = tempfile.mkdtemp(prefix="lore-bench-sqlite-", dir=options.dir)
    try:
        path = os.path.join(folder, "steps.db")
        with contextlib.closing(open_database(path)) as database:
            database.execute("CREATE TABLE steps (position INTEGER PRIMARY KEY, session INTEGER, body TEXT)")
        barrier, results = multiprocessing.Barrier(options.writers), multiprocessing.Queue()
        writers = [
            multiprocessing.Process(
                target=write_rows, args=(path, n, options.bytes, options.seconds, barrier, results)
            )
            for n in range(options.writers)
        ]
        for writer in writers:
            writer.start()
        times = sorted(t for _ in writers for t in results.get())
        for writer in writers:
            writer.join()
    finally:
        shutil.rmtree(folder)
    found = {
        "per_second": len(times) / options.seconds,
        "p50_us": share(times, 0.5) * 1e6,
        "p99_us": share(times, 0.99) * 1e6,
    }
    if options.json:
        print(json.dumps(found))
    else:
        print(f"sqlite, {options.writers} processes:", ", ".join(f"{k} {v:.0f}" for k, v in found.items()))


def fts5(options):
    folder = tempfile.mkdtemp(prefix="lore-bench-fts5-", dir=options.dir)
    try:
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "texts.db"))) as database:
            database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, content='')")
            with open(options.texts, encoding="utf-8") as texts, database:
                database.executemany("INSERT INTO texts (text) VALUES (?)", ((text,) for text in texts))
            database.execute("INSERT INTO texts (texts) VALUES ('optimize')")
            with open(options.queries, encoding="utf-8") as file:
                queries = [line.split() for line in file]
            select = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10"
            found = {}
            for operator in ("and", "or"):
                times = []
                for number in range(len(queries) * 3):
                    words = queries[number % len(queries)]
                    begin = clock()
                    database.execute(select, (f" {operator.upper()} ".join(words),)).fetchall()
                    times.append(clock() - begin)
                times.sort()
                found[f"{operator}_us"] = [share(times, 0.5) * 1e6, share(times, 0.99) * 1e6]
    finally:
        shutil.rmtree(folder)
    print(json.dumps(found))


# --- MCP servers over stdio ----------------------------------------------------------------------


class Mcp:
    """An MCP server as a child process, one JSON-RPC message a line."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.id = 0
        client = {"name": "peers.py", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.id:
                if "error" in message or message["result"].get("isError"):
                    sys.exit(f"{method}: {line.decode()[:300]}")
                return message["result"]
        sys.exit("the server ended")

    def call(self, tool, /, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def p50_us(calls, call):
    times = []
    for n in range(calls):
        begin = clock()
        call(n)
        times.append(clock() - begin)
    return statistics.median(times) * 1e6


TEXT = "The login loop was fixed in pull request 4711, merged on 2026-11-20 by ada@example.com. " * 3


def drive_memory_server(options, folder, known):
    environment = dict(os.environ, MEMORY_FILE_PATH=os.path.join(folder, f"memory-{known}.jsonl"))
    server = Mcp(shlex.split(options.server), environment)

    def entity(n):
        return {"name": f"entity_{n}", "entityType": "step", "observations": [TEXT]}

    try:
        for first in range(0, known, 1000):
            last = min(known, first + 1000)
            server.call("create_entities", entities=[entity(n) for n in range(first, last)])
        return {
            "record": p50_us(options.calls, lambda n: server.call("create_entities", entities=[entity(known + n)])),
            "read": p50_us(options.calls, lambda n: server.call("open_nodes", names=[f"entity_{n % known}"])),
        }
    finally:
        server.close()


@contextlib.contextmanager
def lore_mcp(options, folder):
    """The bridge, and a daemon that it starts in a home of its own."""
    home = tempfile.mkdtemp(prefix="home-", dir=folder)
    environment = dict(os.environ, LORE_HOME=home, LORE_DAEMON=os.path.abspath(options.lored))
    server = Mcp([options.lore, "mcp"], environment)
    pid = server.call("status")["structuredContent"]["pid"]
    try:
        server.call("create_session", session="bench")
        yield server
    finally:
        server.close()
        os.kill(pid, signal.SIGTERM)


def drive_lore(options, folder, known):
    with lore_mcp(options, folder) as server:

        def record(n):
            server.call("record_step", session="bench", tool="remember", result={"id": n, "text": TEXT})

        for n in range(known):
            record(n)
        return {
            "record": p50_us(options.calls, lambda n: record(known + n)),
            "read": p50_us(options.calls, lambda n: server.call("get_step", session="bench", step=n % known + 1)),
        }


def serve_null():
    """Answers every request with the least there can be."""
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "null", "version": "1"},
        },
        "tools/call": {"content": [{"type": "text", "text": "ok"}]},
    }
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
            print(json.dumps(answer), flush=True)


def null(options):
    folder = tempfile.mkdtemp(prefix="lore-bench-mcp-", dir=options.dir)
    server = Mcp([sys.executable, __file__, "serve-null"], dict(os.environ))
    try:
        with lore_mcp(options, folder) as lore:
            rounds = [
                (
                    p50_us(options.calls, lambda n: lore.call("list_steps", session="bench")),
                    p50_us(options.calls, lambda n: server.call("nothing")),
                )
                for _ in range(5)
            ]
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
    ours, theirs = (statistics.median(side) for side in zip(*rounds))
    ratio = statistics.median(ours / theirs for ours, theirs in rounds)
    print(f"one MCP tool call: lore mcp {ours:.0f} us, null server in Python {theirs:.0f} us, ratio {ratio:.2f}")


def memory(options):
    options.server = options.server or (
        shutil.which("mcp-server-memory") and "mcp-server-memory"
    )
    folder = tempfile.mkdtemp(prefix="lore-bench-mcp-", dir=options.dir)
    try:
        for known in (100, options.known):
            lore = drive_lore(options, folder, known)
            line = f"{known:7} known: lore record {lore['record']:9.0f} us, read {lore['read']:9.0f} us"
            if options.server:
                peer = drive_memory_server(options, folder, known)
                line += f" | memory server record {peer['record']:9.0f} us, read {peer['read']:9.0f} us"
                line += f" | ratio 1/{peer['record'] / lore['record']:.0f}, 1/{peer['read'] / lore['read']:.0f}"
            else:
                line += " | no mcp-server-memory (npm install -g @modelcontextprotocol/server-memory)"
            print(line, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers = {"sqlite": sqlite, "fts5": fts5, "memory": memory, "null": null, "serve-null": lambda _: serve_null()}
    parser.add_argument("peer", choices=peers)
    parser.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--texts")
    parser.add_argument("--queries")
    parser.add_argument("--lore", default="lore")
    parser.add_argument("--lored", default="lored")
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--server", help="command of the memory server; absent: mcp-server-memory on PATH")
    options = parser.parse_args()
    peers[options.peer](options)


if __name__ == "__main__":
    main()
