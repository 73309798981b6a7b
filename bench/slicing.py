#!/usr/bin/env python3
"""Slices of a log: six policies about computers, sliced and not, on one core and on two.

    bench/slicing.py BINARY [--events 10000000] [--slices 64] [--memory 400MB] [--only P1,P2] [--repeat 1] [--seed 7]
                     [--data DIR] [--shares] [--write]

The log is synthetic: the published mix of events (61 % alive, 30 % net, 8 % sessions, the rest updates), some 337 events at a time
point, 35,000 computers, a few of which are 10 to 30 times as busy as most. A stretch of it is made at random and repeated with later
times, so that a large log is written quickly. It stays in bench/data (or `--data`) for the next run.

For each policy it prints the wall time on one core and on two (the best of `--repeat` alternating runs), their ratio, CPU seconds and
peak memory of the sliced run, and what the 26 G events of the published log would take at that rate; where the log is small enough
(`--whole-up-to`) the number of violations is compared with that of an unsliced run. Then it takes slices of a log of that length as files,
and evaluates the median one and the largest one by themselves. Exits with 1 if an answer differs. `--write` puts the tables into
docs/benchmarks.md and docs/slicing.md.

`--shares` prints, instead, how the CPU time of the run on two cores is divided among its threads. That does not depend on what else the
machine does: no speed-up is larger than the whole by the share of the busiest thread.
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

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "slicing"
POINT = 337
HOSTS = 35_000
STEP = 60
PUBLISHED = 26_039_307_973
# Overall h:mm, cumulative days, median and largest memory of a slice in MB, as published: 1,000 machines, 10,000 slices.
PAPER = {"P1": ("2:04", 21.4, 6.1, 6.1), "P2": ("2:10", 21.4, 6.1, 10.3), "P3": ("11:56", 22.7, 7.1, 510.2),
         "P4": ("2:32", 21.3, 9.2, 13.1), "P5": ("2:28", 21.3, 6.1, 6.1), "P6": ("2:13", 21.1, 6.1, 7.1)}
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


def run(command, cores=None):
    """Wall seconds, CPU seconds, peak MB and the number of violations; on so many cores, if it is said."""
    mine = sorted(os.sched_getaffinity(0))
    pin = (lambda: os.sched_setaffinity(0, mine[:cores])) if cores else None
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err, preexec_fn=pin)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        out.seek(0)
        err.seek(0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"{' '.join(map(str, command))}\n{out.read()}{err.read()}")
        answer = json.loads(out.readline())["violation_count"]
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, answer


def share(command):
    """The CPU seconds of the busiest thread and of all, and the peak in MB."""
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = {}
    while True:
        for task in Path(f"/proc/{child.pid}/task").glob("*/schedstat"):
            try:
                seen[task.parent.name] = int(task.read_text().split()[0]) / 1e9
            except OSError:
                pass  # it has just ended
        ended, _, usage = os.wait4(child.pid, os.WNOHANG)
        if ended:
            return max(seen.values(), default=0), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        time.sleep(0.01)


def shares(options, chosen, path):
    for workload in chosen:
        check = [options.binary, "check", "--no-explain", "--violations", "0", "--output", "json", "--format", "monpoly",
                 specification(workload), path, "--slices", options.slices, "--memory", options.memory, "--threads", 2, "--jobs", 2]
        busiest, whole, megabytes = share(check)
        print(f"{workload.name}: {whole:.2f} s of CPU, the busiest thread {busiest:.2f} s, at most {whole / max(busiest, whole / 2):.2f} times "
              f"as fast on two cores; {megabytes:.0f} MB", flush=True)


def best(runs):
    """The least of each, and all answers."""
    return (*(min(own[at] for own in runs) for at in range(2)), max(own[2] for own in runs), {own[3] for own in runs})


def specification(workload):
    path = DATA / f"{workload.name}.tw"
    declared = COMPUTERS.replace(") ", ")\n").split("\n")
    path.write_text("".join(f"event {line};\n" for line in declared) + f"property p : {workload.spec};\n")
    return path


def span(seconds):
    """As people say it."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def policies(options, chosen, path, events):
    """The first table, and whether all answers are the same."""
    lines = ["| policy | violations | one core s | two s | speed-up | CPU s | M events/s and core | MB | "
             "26 G on 16 cores | on 1,000 | published, 1,000 machines | CPU days, published |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    right = True
    for workload in chosen:
        spec = specification(workload)
        check = [options.binary, "check", "--no-explain", "--violations", "0", "--output", "json", "--format", "monpoly", spec, path]
        sliced = [*check, "--slices", options.slices, "--memory", options.memory]
        ones, twos = [], []
        for _ in range(options.repeat):
            ones.append(run([*sliced, "--threads", 1, "--jobs", 1], 1))
            twos.append(run([*sliced, "--threads", 2, "--jobs", 2], 2))
        one, two = best(ones), best(twos)
        answers = one[3] | two[3]
        if events <= options.whole_up_to:
            answers.add(run(check)[3])
        right &= len(answers) == 1
        shown = f"{min(answers):,}" if len(answers) == 1 else f"✗ {sorted(answers)}"
        cpu = min(one[1], two[1])
        seconds = PUBLISHED / events * cpu
        overall, days, _, _ = PAPER[workload.name]
        lines.append(f"| {workload.name} | {shown} | {one[0]:.1f} | {two[0]:.1f} | {one[0] / two[0]:.2f} | {one[1]:.1f}, {two[1]:.1f} | "
                     f"{events / cpu / 1e6:.2f} | {max(one[2], two[2]):.0f} | {span(seconds / 16)} | {span(seconds / 1000)} | "
                     f"{overall} h | {seconds / 86400:.3f}, {days} |")
        print(lines[-1], flush=True)
    return lines, right


def slices(options, chosen, path):
    """The second table: the slices of each policy as files, the median one and the largest one by themselves, in monitors that keep
    windows alone."""
    lines = ["| policy | median slice: events | s | MB | largest slice: events | s | MB | published: median slice MB | largest MB |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for workload in chosen:
        with tempfile.TemporaryDirectory(dir=DATA) as directory:
            split = [options.binary, "split", specification(workload), path, "--format", "monpoly", "--slices", options.slices, "-o",
                     directory, "--output", "json"]
            out = subprocess.run(list(map(str, split)), capture_output=True, text=True, check=True).stdout
            files = sorted(((own["events"], own["file"]) for own in map(json.loads, out.splitlines())))
            alone = [options.binary, "check", "--no-explain", "--violations", "0", "--output", "json", "--format", "monpoly",
                     specification(workload)]
            cells = []
            for events, file in (files[len(files) // 2], files[-1]):
                _, cpu, megabytes, _ = run([*alone, file, "--slices", 1, "--memory", "1MB", "--threads", 1, "--jobs", 1])
                cells.append(f"{events:,} | {cpu:.2f} | {megabytes:.0f}")
            _, _, middle, most = PAPER[workload.name]
            lines.append(f"| {workload.name} | {cells[0]} | {cells[1]} | {middle} | {most} |")
            print(lines[-1], flush=True)
    return lines


def write(tables):
    """Puts the tables where docs say that they stand."""
    begin, end = "<!-- bench/slicing.py -->\n", "<!-- end -->\n"
    for name in ("benchmarks.md", "slicing.md"):
        page = HERE.parent / "docs" / name
        text = page.read_text()
        before, rest = text.split(begin)
        page.write_text(before + begin + "\n".join(tables) + "\n" + end + rest.split(end, 1)[1])


def main():
    global DATA
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--slices", type=int, default=64)
    parser.add_argument("--memory", default="400MB")
    parser.add_argument("--only", default="P1,P2,P3,P4,P5,P6")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--whole-up-to", type=int, default=10_000_000)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    DATA = options.data
    path, facts = log_of(options.events, options.seed)
    events = facts["events"]
    chosen = [workload for workload in POLICIES if workload.name in options.only.split(",")]
    told = (f"{events:,} events, {facts['bytes'] / 1e6:,.0f} MB (synthetic); {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
            f"`--slices {options.slices} --memory {options.memory}`")
    print(told)
    if options.shares:
        return shares(options, chosen, path)
    lines, right = policies(options, chosen, path, events)
    tables = [told, "", *lines]
    if events > options.whole_up_to:
        path, facts = log_of(options.whole_up_to, options.seed)
    tables += ["", f"Of a log of {facts['events']:,} events:", "", *slices(options, chosen, path)]
    if options.write:
        write(tables)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
