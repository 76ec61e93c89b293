"""LangGraph's SqliteSaver in process, the peer of `cargo bench -p tests --bench checkpoints`.

    sqlite_saver.py CONTEXTS [--loads 100] [--dir DIR] [--json]
        Puts each line of the file CONTEXTS, a context as JSON, as the next checkpoint of one thread,
        then gets the latest and any of them. Needs the package langgraph-checkpoint-sqlite.

A context is parsed before the clock starts, and every key of it has a new version each time: the saver
keeps all channels in one row, whatever changed. The modelled flush reaches it through LD_PRELOAD.
"""
import argparse
import contextlib
import json
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from importlib import metadata

try:
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver
except ImportError:
    sys.exit(f"{sys.executable} has no package langgraph-checkpoint-sqlite")

clock = time.perf_counter
THREAD = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}


def timed(call):
    begin = clock()
    found = call()
    return clock() - begin, found


def p50_p99_us(times):
    times.sort()
    return [statistics.median_high(times) * 1e6, times[min(len(times) - 1, len(times) * 99 // 100)] * 1e6]


def put_all(saver, contexts):
    times, places, place = [], [], THREAD
    for step, line in enumerate(contexts):
        values = json.loads(line)
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = values
        checkpoint["channel_versions"] = versions = {key: f"{step:032}" for key in values}
        about = {"source": "loop", "step": step, "parents": {}}
        took, place = timed(lambda: saver.put(place, checkpoint, about, versions))
        times.append(took)
        places.append(place)
    return times, places


def get(saver, place, step):
    took, found = timed(lambda: saver.get_tuple(place))
    if found.checkpoint["channel_values"]["step"] != step:
        sys.exit(f"the checkpoint of step {step} does not come back")
    return took


def allocated_bytes(folder):
    return sum(entry.stat().st_blocks * 512 for entry in os.scandir(folder))


def run(options):
    with open(options.contexts, encoding="utf-8") as lines:
        contexts = list(lines)
    folder = tempfile.mkdtemp(prefix="lore-bench-langgraph-", dir=options.dir)
    try:
        with contextlib.closing(
            sqlite3.connect(os.path.join(folder, "checkpoints.db"), check_same_thread=False)
        ) as database:
            saver = SqliteSaver(database)
            saver.setup()
            puts, places = put_all(saver, contexts)
            last = len(places) - 1
            latest = [get(saver, THREAD, last) for _ in range(options.loads)]
            # Any of them, in an order that repeats late.
            older = [(n * 37) % len(places) for n in range(options.loads)]
            older = [get(saver, places[step], step) for step in older]
        return {
            "save_us": p50_p99_us(puts),
            "load_latest_us": p50_p99_us(latest),
            "load_older_us": p50_p99_us(older),
            "bytes": allocated_bytes(folder),
            "version": metadata.version("langgraph-checkpoint-sqlite"),
        }
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contexts")
    parser.add_argument("--loads", type=int, default=100)
    parser.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = run(options)
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:16}", ", ".join(f"{part:.0f}" for part in value) if isinstance(value, list) else value)


if __name__ == "__main__":
    main()
