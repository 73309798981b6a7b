#!/usr/bin/env python3
"""Parametric monitors from a log file: 1, 10 and 100 of them, up to a million live bindings, CPU time and memory.

    bench/parametric.py BINARY [--events 10000000] [--bindings 100000,1000000] [--repeats 3] [--only NAME] [--folder DIR]

Every figure includes reading the log, which is measured alone, too: by monitors of which no event occurs. CPU time is
user and system time of all threads, the best of the repeats; memory is the largest resident set. Logs are written
once and left in the folder. No report is ever made, so that nothing is explained.

The slow end is algorithm A: `slice` gives each binding its trace, and an automaton runs over each, on a small log.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time


def run(command):
    """CPU seconds, wall seconds, largest resident set in MB, exit code, and the output."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        text = out.read()
    wall = time.perf_counter() - began
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), text


def write(path, lines):
    if os.path.exists(path):
        return
    with open(path + ".part", "w") as out:
        block = []
        for line in lines:
            block.append(line)
            if len(block) == 100_000:
                out.write("".join(block))
                block.clear()
        out.write("".join(block))
    os.rename(path + ".part", path)


def files(monitors, prefix=""):
    """A file is not read after it was closed: each event concerns one monitor."""
    return "".join(
        f"monitor Closed{k}(f) {{ event {prefix}open{k}(f); event {prefix}read{k}(f); event {prefix}close{k}(f);"
        f" ere : {prefix}open{k} {prefix}read{k}* {prefix}close{k}+ {prefix}read{k}; }}\n"
        for k in range(monitors)
    )


def files_log(monitors, events, bindings, seed):
    random.seed(seed)
    each = bindings // monitors
    for k in range(monitors):
        for f in range(each):
            yield f"open{k},{f}\n"
    for _ in range(events - each * monitors):
        yield f"read{int(random.random() * monitors)},{int(random.random() * each)}\n"


def iterators(monitors, prefix=""):
    """An iterator is not used after its collection or map changed, with three parameters; all monitors read the same events."""
    names = ["getC", "getI", "modifyM", "modifyC", "useI"]
    get, make, change, alter, use = (prefix + name for name in names)
    return "".join(
        f"monitor Unsafe{k}(m, c, i) {{ creation event {get}(m, c); event {make}(c, i); event {change}(m); event {alter}(c);"
        f" event {use}(i); ere : {get} ({change} | {alter})* {make} {use}* ({change} | {alter})+ {use}; }}\n"
        for k in range(monitors)
    )


def iterators_log(_, events, bindings, seed):
    """Ten iterators of each collection, ten collections of each map; a map changes before its iterators are there."""
    random.seed(seed)
    # Of each collection there is a binding, too.
    count = bindings * 10 // 11
    written = 0
    for i in range(count):
        if i % 10 == 0:
            yield f"getC,{i // 100},{i // 10}\n"
            written += 1
        yield f"getI,{i // 10},{i}\n"
        written += 1
    for _ in range(events - written):
        yield f"useI,{int(random.random() * count)}\n"


WORKLOADS = {"files": (files, files_log, [1, 10, 100]), "iterators": (iterators, iterators_log, [1, 10])}


def best(command, repeats):
    runs = [run(command) for _ in range(repeats)]
    for _, _, _, code, text in runs:
        if code != 0:
            sys.exit(f"{' '.join(command)} ended with {code}: {text[:300]}")
    return min(own[0] for own in runs), min(own[1] for own in runs), max(own[2] for own in runs)


def measure(binary, folder, options):
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; CPU time, best of {options.repeats}")
    print("| monitors | live bindings | events | log | reading alone | with monitors | ns an event | wall | memory |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (specification, log, counts) in WORKLOADS.items():
        if options.only and options.only != name:
            continue
        for bindings in options.bindings:
            for monitors in counts:
                # All monitors of the iterators read one log.
                of = monitors if log is files_log else 1
                trace = os.path.join(folder, f"{name}-{of}-{bindings}-{options.events}.events")
                write(trace, log(of, options.events, bindings, 1))
                specs = {}
                for which, prefix in (("own", ""), ("none", "no_")):
                    specs[which] = os.path.join(folder, f"{name}-{monitors}-{which}.tw")
                    with open(specs[which], "w") as out:
                        out.write(specification(monitors, prefix))
                alone, _, _ = best([binary, "check", "-q", specs["none"], trace], options.repeats)
                cpu, wall, memory = best([binary, "check", "-q", specs["own"], trace], options.repeats)
                held = bindings if log is files_log else bindings * monitors
                print(
                    f"| {monitors} {name} | {held:,} | {options.events:,} | {os.path.getsize(trace) / 1e6:.0f} MB "
                    f"| {alone:.2f} s | {cpu:.2f} s | {cpu * 1e9 / options.events:.0f}, of which reading "
                    f"{alone * 1e9 / options.events:.0f} | {wall:.2f} s | {memory:.0f} MB |",
                    flush=True,
                )


def naive(binary, folder):
    """Algorithm A's slices of the iterators' log, and the expression on each."""
    print("\n| algorithm A | live bindings | events | slices | made in | automaton (in this script) | the engine, whole process |")
    print("|---|---|---|---|---|---|---|")
    patterns = "getC(m, c), getI(c, i), modifyM(m), modifyC(c), useI(i)"
    # getC modify* getI useI* modify+ useI
    moves = {(0, "getC"): 1, (1, "getI"): 2, (2, "useI"): 2}
    moves |= {(state, name): to for name in ("modifyM", "modifyC") for state, to in ((1, 1), (2, 3), (3, 3))}
    moves[3, "useI"] = 4
    for events, bindings in ((2_000, 220), (4_000, 440), (8_000, 880)):
        trace = os.path.join(folder, f"small-{events}-{bindings}.events")
        write(trace, iterators_log(1, events, bindings, 2))
        slicing, _, _, code, text = run([binary, "slice", "--patterns", patterns, trace, "--output", "json"])
        if code != 0:
            sys.exit(f"slice ended with {code}")
        with open(trace) as log:
            names = [line.split(",")[0] for line in log]
        began = time.process_time()
        slices = matches = 0
        for line in text.decode().splitlines():
            state, slices = 0, slices + 1
            for position in json.loads(line)["positions"]:
                state = moves.get((state, names[position]), 5)
                matches += state == 4
        automaton = time.process_time() - began
        spec = os.path.join(folder, "small.tw")
        with open(spec, "w") as out:
            out.write(iterators(1))
        cpu, _, _ = best([binary, "check", "-q", spec, trace], 3)
        if matches:
            sys.exit("algorithm A finds a match, the engine none")
        print(
            f"| slice | {bindings:,} | {events:,} | {slices:,} | {slicing:.3f} s | {automaton:.3f} s | {cpu:.3f} s |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--bindings", type=lambda text: [int(own) for own in text.split(",")], default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(WORKLOADS))
    parser.add_argument("--folder", help="where logs are kept; a temporary folder otherwise")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
        measure(binary, options.folder, options)
        naive(binary, options.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(binary, folder, options)
        naive(binary, folder)


main()
