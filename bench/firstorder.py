#!/usr/bin/env python3
"""Properties about data: policies with quantifiers on synthetic logs, each with the number of violations that it must have.

    bench/firstorder.py BINARY [--events 10000,100000,1000000] [--engine auto] [--only policies,events,windows]
                        [--repeat 3] [--seed 7] [--timeout 600] [--oracle-up-to 1000000]

1. policies: six policies about computers, on a log with the mix of events that is published for them (the log itself is not
   public; this one is made up: 35,000 computers, some busier than others, 337 events at a time point in a log of a million);
2. events: six properties of single events (access, files, a queue, locks, their order, data races), as CSV without times;
3. windows: values in windows of 600 s and in one that never ends, a deadline, joins of two and three relations.

Writes specifications and logs into bench/data (kept for the next run), runs `BINARY check SPEC LOG`, and prints a Markdown
table: CPU time, ns per event, peak memory, the load of the machine, and the ratio to `monpoly` where that is on the path. Each
answer is compared with that of an oracle (bench/workloads.py); the script exits with 1 if one differs.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from workloads import POLICIES, WINDOWS
from workloads_events import EVENTS

DATA = Path(__file__).resolve().parent / "data" / "firstorder"
GROUPS = {"policies": POLICIES, "events": EVENTS, "windows": WINDOWS}


def monpoly_line(at, events):
    """`@12 approve (163) publish (160) (152)`"""
    by_name = {}
    for event, arguments in events:
        shown = ",".join(f'"{value}"' if isinstance(value, str) else str(value) for value in arguments)
        by_name.setdefault(event, []).append(f"({shown})")
    return f"@{at} " + " ".join(f"{event} {' '.join(tuples)}" for event, tuples in by_name.items()) + "\n"


def write(workload, events, seed, oracle, stem, peer):
    """Writes the log, the specification, MonPoly's files, and what the oracle says."""
    points = workload.log(random.Random(seed), events)
    if workload.timed:
        lines = [monpoly_line(at, here) for at, here in points]
    else:
        lines = [",".join(map(str, (name, *arguments))) + "\n" for _, [(name, arguments)] in points]
    log = stem.with_suffix(".log" if workload.timed else ".events")
    log.write_text("".join(lines))
    if peer and not workload.timed:
        stem.with_suffix(".log").write_text("".join(monpoly_line(at, here) for at, here in points))
    declared = workload.declared.replace(") ", ")\n")
    declarations = "".join(f"event {line};\n" for line in declared.split("\n"))
    stem.with_suffix(".tw").write_text(f"{declarations}property p : {workload.spec};\n")
    stem.with_suffix(".sig").write_text(declared + "\n")
    stem.with_suffix(".mfotl").write_text(workload.policy + "\n")
    facts = {"events": sum(len(here) for _, here in points), "points": len(points),
             "violations": workload.oracle(points) if oracle else None}
    stem.with_suffix(".json").write_text(json.dumps(facts))


def prepared(workload, events, options, peer):
    """The stem of the files, which are written unless they are there, and what is known of them."""
    DATA.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "-" for c in workload.name)
    stem = DATA / f"{name}-{events}-{options.seed}"
    facts = stem.with_suffix(".json")
    oracle = events <= options.oracle_up_to
    missing = peer and not stem.with_suffix(".log").exists()
    if missing or not facts.exists() or oracle and json.loads(facts.read_text())["violations"] is None:
        # In a process of its own: what a child is measured to hold begins with what its parent holds.
        writer = os.fork()
        if writer == 0:
            code = 1
            try:
                write(workload, events, options.seed, oracle, stem, peer)
                code = 0
            finally:
                os._exit(code)
        if os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) != 0:
            sys.exit(f"{workload.name}: the log could not be written")
    return stem, json.loads(facts.read_text())


def run(command, timeout):
    """CPU seconds, peak MB, exit code and output of one run; None after too long a time."""
    with open(DATA / "out", "w+") as out, open(DATA / "err", "w+") as err:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err)
        started = time.monotonic()
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - started > timeout:
                os.kill(child.pid, signal.SIGKILL)
                os.wait4(child.pid, 0)
                return None
            time.sleep(0.005)
        out.seek(0)
        err.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), out.read(), err.read()


def reason(text):
    """The first error, on one line."""
    first = text.strip().split("\n")[0]
    try:
        first = json.loads(first)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        pass
    return first.replace("|", "\\|")[:160]


def best(command, options, allowed):
    """The best of some runs, or a word about why there is none."""
    found = None
    for _ in range(options.repeat):
        one = run(command, options.timeout)
        if one is None:
            return f"over {options.timeout:g} s"
        if one[2] not in allowed:
            return "refused: " + reason(one[3] + one[4])
        found = one if found is None or one[0] < found[0] else found
    return found


def measure(workload, events, options, peer):
    """One row of the table; whether the answer is right, as far as that is known."""
    stem, facts = prepared(workload, events, options, peer)
    log = stem.with_suffix(".log" if workload.timed else ".events")
    command = [options.binary, "check", "--engine", options.engine, "--no-explain", "--violations", "0", "--output", "json",
               *(["--format", "monpoly"] if workload.timed else []), stem.with_suffix(".tw"), log]
    found = best(command, options, (0, 1))
    row = [workload.name, f"{facts['events']:,}"]
    if isinstance(found, str):
        print(f"| {' | '.join(row + [found, '', '', '', '', ''])} |", flush=True)
        return True
    cpu, peak, _, out, _ = found
    answer = json.loads(out.splitlines()[0])["violation_count"]
    expected = facts["violations"]
    right = expected is None or answer == expected
    shown = f"{answer:,}" + ("" if expected is not None and right else " (unchecked)" if right else f" ✗ expected {expected:,}")
    ratio = ""
    if peer:
        policy = [peer, "-negate", "-sig", stem.with_suffix(".sig"), "-formula", stem.with_suffix(".mfotl"), "-log",
                  stem.with_suffix(".log")]
        other = best(policy, options, (0,))
        ratio = other if isinstance(other, str) else f"{other[0] / max(cpu, 1e-3):.1f}"
    row += [shown, f"{cpu * 1e3:.0f}", f"{cpu * 1e9 / facts['events']:.0f}", f"{peak:.0f}", f"{os.getloadavg()[0]:.2f}", ratio]
    print(f"| {' | '.join(row)} |", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--events", default="10000,100000,1000000")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--only", default="policies,events,windows")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--oracle-up-to", type=int, default=1_000_000)
    options = parser.parse_args()
    peer = shutil.which("monpoly")
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores; engine {options.engine}; monpoly: {peer or 'not found'}")
    right = True
    for group in options.only.split(","):
        for events in map(int, options.events.split(",")):
            print(f"\n{group}, about {events:,} events (synthetic)\n")
            print("| property | events | violations | CPU ms | ns per event | MB | load | monpoly × |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|")
            for workload in GROUPS[group]:
                right &= measure(workload, events, options, peer)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
