#!/usr/bin/env python3
"""Slices of a log: six policies about computers, sliced and not, with one thread and with two.

    bench/slicing.py BINARY [--events 10000000] [--slices 64] [--memory 400MB] [--only P1,P2] [--repeat 1] [--seed 7]

The log is synthetic: the published mix of events (61 % alive, 30 % net, 8 % sessions, the rest updates), some 337 events at a time
point, 35,000 computers, a few of which are 10 to 30 times as busy as most. A stretch of it is made at random and repeated with later
times, so that a large log is written quickly. It stays in bench/data for the next run.

For each policy it prints the wall time of one thread and of two, their ratio, events per second, CPU seconds and peak memory of the sliced run,
and compares its answer with that of an unsliced run on a log that is small enough for one (`--whole-up-to`); then how large the slices
are, and what the 26 G events of the published log would take at these rates. Exits with 1 if an answer differs.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workloads import COMPUTERS, POLICIES

DATA = Path(__file__).resolve().parent / "data" / "slicing"
POINT = 337
HOSTS = 35_000
STEP = 60
PUBLISHED = 26_039_307_973
# Overall h:mm, cumulative days, largest memory in MB, as published: 1,000 machines, 10,000 slices.
PAPER = {"P1": ("2:04", 21.4, 6.1), "P2": ("2:10", 21.4, 10.3), "P3": ("11:56", 22.7, 510.2),
         "P4": ("2:32", 21.3, 13.1), "P5": ("2:28", 21.3, 6.1), "P6": ("2:13", 21.1, 7.1)}
MIX = [("alive", 0.611), ("net", 0.911), ("ssh", 0.994), ("auth", 0.9943), ("upd_start", 0.9968),
       ("upd_connect", 0.9986), ("upd_success", 0.9998), ("upd_skip", 1.0)]


def host(dice):
    """One of 35,000; one event in fifty is of one of forty that are busier than all others."""
    return dice.randrange(40) if dice.random() < 0.02 else dice.randrange(HOSTS)


def stretch(dice, points):
    """The events of some time points, as text behind the time, and how many there are."""
    lines, open_sessions, count, session = [], [], 0, 0
    for _ in range(points):
        here = {}
        for _ in range(POINT):
            draw = dice.random()
            name = next(name for name, upto in MIX if draw < upto)
            if name == "ssh":
                if open_sessions and dice.random() < 0.49:
                    name, arguments = "ssh_logout", open_sessions.pop(dice.randrange(len(open_sessions)))
                else:
                    session += 1
                    name, arguments = "ssh_login", (host(dice), session)
                    open_sessions.append(arguments)
            elif name == "auth":
                arguments = (host(dice), dice.randrange(900, 5_000))
            else:
                arguments = (host(dice),)
            here.setdefault(name, []).append("(" + ",".join(map(str, arguments)) + ")")
            count += 1
        lines.append(" ".join(f"{name} {' '.join(tuples)}" for name, tuples in here.items()))
    return lines, count


def log_of(events, seed):
    """The log, which is written unless it is there, and the number of its events."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / f"computers-{events}-{seed}.log"
    facts = path.with_suffix(".json")
    if not facts.exists():
        lines, count = stretch(random.Random(seed), max(1, min(events, 1_000_000) // POINT))
        written, at = 0, 0
        with open(path, "w", buffering=1 << 20) as out:
            while written < events:
                for line in lines:
                    out.write(f"@{at} {line}\n")
                    at += STEP
                written += count
        facts.write_text(json.dumps({"events": written, "bytes": path.stat().st_size}))
    return path, json.loads(facts.read_text())


def run(command):
    """Wall seconds, CPU seconds, peak MB and the number of violations."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        out.seek(0)
        err.seek(0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"{' '.join(map(str, command))}\n{out.read()}{err.read()}")
        answer = json.loads(out.readline())["violation_count"]
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, answer


def best(command, repeat):
    return min((run(command) for _ in range(repeat)), key=lambda found: found[0])


def specification(workload):
    path = DATA / f"{workload.name}.tw"
    declared = COMPUTERS.replace(") ", ")\n").split("\n")
    path.write_text("".join(f"event {line};\n" for line in declared) + f"property p : {workload.spec};\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--slices", type=int, default=64)
    parser.add_argument("--memory", default="400MB")
    parser.add_argument("--only", default="P1,P2,P3,P4,P5,P6")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--whole-up-to", type=int, default=10_000_000)
    options = parser.parse_args()
    path, facts = log_of(options.events, options.seed)
    events = facts["events"]
    print(f"{events:,} events, {facts['bytes'] / 1e6:,.0f} MB (synthetic); load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores; "
          f"{options.slices} slices, --memory {options.memory}\n")
    print("| policy | violations | 1 thread s | 2 threads s | speed-up | M events/s, 2 threads | CPU s | MB | "
          "26 G on 16 cores | on 1,000 | paper, 1,000 machines | paper, cumulative days, ours | MB in the paper |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    right, first = True, None
    for workload in POLICIES:
        if workload.name not in options.only.split(","):
            continue
        spec = specification(workload)
        first = first or (workload, spec)
        check = [options.binary, "check", "--no-explain", "--violations", "0", "--output", "json", "--format", "monpoly", spec, path]
        sliced = [*check, "--slices", options.slices, "--memory", options.memory]
        one = best([*sliced, "--threads", 1, "--jobs", 1], options.repeat)
        two = best([*sliced, "--threads", 2, "--jobs", 2], options.repeat)
        answers = {one[3], two[3]}
        if events <= options.whole_up_to:
            answers.add(run(check)[3])
        right &= len(answers) == 1
        shown = f"{two[3]:,}" if len(answers) == 1 else f"✗ {sorted(answers)}"
        rate = events / one[1]
        hours = lambda cores: PUBLISHED / rate / cores / 3600
        overall, days, memory = PAPER[workload.name]
        print(f"| {workload.name} | {shown} | {one[0]:.1f} | {two[0]:.1f} | {one[0] / two[0]:.2f} | {events / two[0] / 1e6:.2f} | "
              f"{one[1]:.1f} | {two[2]:.0f} | {hours(16):.2f} h | {hours(1000) * 60:.1f} min | {overall} h | "
              f"{days}, {PUBLISHED / rate / 86400:.2f} | {memory} |", flush=True)
    if first and events <= options.whole_up_to:
        with tempfile.TemporaryDirectory() as directory:
            command = [options.binary, "split", first[1], path, "--format", "monpoly", "--slices", options.slices, "-o", directory,
                       "--output", "json"]
            out = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
            sizes = sorted(json.loads(line)["events"] for line in out.splitlines())
            total = sum(sizes)
            print(f"\nslices for {first[0].name}: {total:,} events in all, median {sizes[len(sizes) // 2]:,}, largest {sizes[-1]:,}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
