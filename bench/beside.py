#!/usr/bin/env python3
"""Two builds beside each other: is one slower than the other?

    bench/beside.py OLD NEW [--repeat 9] [--rows 1000000]

Writes traces into bench/data (kept for the next run), runs the same commands with both binaries, alternating, and prints a
Markdown table: CPU and wall time of the best run of each, their ratio, peak memory. Commands that one build does not know
are left out. The load of the machine is printed first: ratios near 1 mean little on a busy one.
"""

import argparse
import os
import random
import subprocess
import time
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"


def write(path, header, block, blocks):
    """A file of repeated blocks of lines."""
    if path.exists():
        return
    DATA.mkdir(exist_ok=True)
    with open(path, "w") as file:
        file.write(header)
        for _ in range(blocks):
            file.write(block)


def traces(rows):
    dice = random.Random(7)
    bits = "".join(f"{dice.randrange(2)},{dice.randrange(2)}\n" for _ in range(10_000))
    write(DATA / f"beside-{rows}.csv", "a,b\n", bits, rows // 1000)
    write(DATA / f"beside-{rows}.props", "", bits.replace("1,1", "a b").replace("1,0", "a").replace("0,1", "b").replace("0,0", ""), rows // 1000)
    lines, time_now = [], 0
    for number in range(rows):
        time_now += dice.randrange(3)
        event = dice.choice(["req", "ack", "ack", "idle"])
        lines.append(
            f'{{"time": {time_now / 1000}, "event": "{event}", "user": "u{dice.randrange(rows // 20)}", "ms": {dice.randrange(900)}, "n": {number}}}\n'
        )
    write(DATA / f"beside-{rows}.jsonl", "", "".join(lines), 1)
    signal, level = [], 0.0
    for number in range(rows):
        level += dice.random() - 0.5
        signal.append(f"{number / 10},{level:.4f},{level * 0.5:.4f}\n")
    write(DATA / f"beside-{rows}-signals.csv", "time,x,y\n", "".join(signal), 1)
    stamped = "".join(f"{number},{('true,false', 'false,true')[number % 2]}\n" for number in range(rows))
    write(DATA / f"beside-{rows}-stamped.csv", "time,p,q\n", stamped, 1)
    rare = "".join(f"{number},{str(number % 100 == 0).lower()},{str(number % 7 == 0).lower()}\n" for number in range(rows))
    write(DATA / f"beside-{rows}-rare.csv", "time,p,q\n", rare, 1)


def commands(rows):
    names = [".csv", ".props", ".jsonl", "-signals.csv", "-stamped.csv", "-rare.csv"]
    csv, props, jsonl, signals, stamped, rare = (str(DATA / f"beside-{rows}{name}") for name in names)
    check = ["check", "--no-explain", "--violations", "0"]
    yield f"check `G (a -> F b)`, CSV, {rows * 10:,} rows", check + ["-e", "G (a -> F b)", csv]
    yield "check, explained", ["check", "-e", "G (a -> b)", csv]
    yield "check `G ((a S b) -> X (a U b))`, props", check + ["-e", "G ((a S b) -> X (a U b))", props]
    yield f"check, JSON lines, {rows:,} rows", check + ["-e", "G (req -> F ack)", "-e", "G (ms < 900)", jsonl]
    yield "check with an interval, JSON lines", check + ["-e", "G (req -> F[0,5s] ack)", jsonl]
    yield "check --by user", check + ["-e", "G (req -> F ack)", "--by", "user", jsonl]
    yield "eval, JSON lines", ["eval", "-e", "req S ack", jsonl]
    yield "query, JSON lines", ["query", "-e", "max[ms]", "-e", "count[req & X ack]", jsonl]
    yield "query by user", ["query", "-e", "max[ms]", "--by", "user", "--output", "json", jsonl]
    yield "robust", ["robust", "-e", "G[0,60] (x > -500) & F[0,10] y < 100", signals]
    yield "merge", ["merge", "--keep", "state", "--state", "event", jsonl, "-o", "/dev/null"]
    yield "watch `F (a & X b)`, first verdict alone", ["watch", "--quiet", "-e", "F (req & X nothing)", jsonl]
    yield "watch with an interval that holds", ["watch", "--quiet", "-e", "F (req & F[0,5s] nothing)", jsonl]
    yield "watch `G (p -> F q)`, CSV, p at every other line", ["watch", "--quiet", "-e", "G (p -> F q)", stamped]
    yield "watch `G (p -> F q)`, CSV, p at every hundredth", ["watch", "--quiet", "-e", "G (p -> F q)", rare]
    yield "watch --each-position", ["watch", "--quiet", "--each-position", "-e", "G (req -> F ack)", jsonl]


def run(binary, arguments):
    """CPU seconds, wall seconds and peak MB of one run; None if it is refused."""
    started = time.perf_counter()
    child = subprocess.Popen([binary, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
        return None
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    # In a process of its own: what a child is measured to hold begins with what its parent holds.
    writer = os.fork()
    if writer == 0:
        traces(options.rows)
        os._exit(0)
    os.waitpid(writer, 0)
    print(f"load {os.getloadavg()[0]:.2f}\n")
    print("| what | old CPU ms | new CPU ms | ratio | old wall ms | new wall ms | ratio | MB old | MB new |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, arguments in commands(options.rows):
        best = [[float("inf"), float("inf"), 0.0], [float("inf"), float("inf"), 0.0]]
        for _ in range(options.repeat):
            for side, binary in enumerate([options.old, options.new]):
                found = run(binary, arguments)
                if found is None:
                    best[side] = None
                if best[side] is None:
                    continue
                best[side] = [min(best[side][0], found[0]), min(best[side][1], found[1]), max(best[side][2], found[2])]
        if None in best:
            continue
        (old_cpu, old_wall, old_mb), (new_cpu, new_wall, new_mb) = best
        print(
            f"| {name} | {old_cpu * 1e3:.0f} | {new_cpu * 1e3:.0f} | {new_cpu / old_cpu:.2f} "
            f"| {old_wall * 1e3:.0f} | {new_wall * 1e3:.0f} | {new_wall / old_wall:.2f} | {old_mb:.0f} | {new_mb:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
