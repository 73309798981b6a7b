#!/usr/bin/env python3
"""Merging traces and checking models: how long it takes, and beside pyModelChecking on the same model in the same run.

    bench/models.py [--traces 1000] [--rows 10000] [--states 1000000] [--repeat 5] [--only merge,check,large,peer]

Builds the release binary, writes traces into bench/data (kept for the next run), installs pyModelChecking with pip into
bench/data/venv, and prints Markdown tables. Our time is that of the whole process where a file is named, and in memory where
it says so. Beside the peer both are that of the check alone, without making the model ready. `large` takes 1 GB and a minute.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from run import DATA, ROOT, TRACEWISE, installed, row, run, table

PEER = """
import json, sys, time
from pyModelChecking import Kripke
from pyModelChecking.CTL import modelcheck, AG, EF, AF, EU, AtomicProposition as P
model = json.load(open(sys.argv[1]))
labels = {i: {name for name in "pqr" if state.get(name)} for i, state in enumerate(model["states"])}
R = [(edge["from"], edge["to"]) for edge in model["edges"]]
K = Kripke(S=list(labels), S0=[0], R=R, L=labels)
from pyModelChecking.CTL import A, E, U, G, F
for name, formula in [("AG EF p", A(G(E(F("p"))))), ("AF p", A(F("p"))), ("E[q U p]", E(U("q", "p")))]:
    started = time.perf_counter()
    found = modelcheck(K, formula)
    print(json.dumps({"formula": name, "seconds": time.perf_counter() - started, "holds": 0 in found, "states": len(found)}))
"""


def traces(count, rows):
    """Runs of a machine of eight states that leaves a state now and then."""
    folder = DATA / f"runs-{count}-{rows}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        rng = random.Random(1)
        names = ["idle", "start", "run", "wait", "retry", "drain", "stop", "fault"]
        for index in range(count):
            state, lines = rng.randrange(8), ["state"]
            for _ in range(rows):
                lines.append(names[state])
                draw = rng.random()
                state = state if draw < 0.7 else (state + 1) % 8 if draw < 0.95 else rng.randrange(8)
            (part / f"t{index:04}.csv").write_text("\n".join(lines) + "\n")
        part.rename(folder)
    files = sorted(folder.iterdir())
    subprocess.run(["cat", *files], stdout=subprocess.DEVNULL)
    return files


def merge(files, events, repeat):
    table(f"Merging {events:,} events of {len(files):,} CSV traces, end to end", "keep", "ms", "ns/event", "peak MB", "states", "transitions")
    for keep in ("state", "time", "change", "history"):
        out = DATA / f"merged-{keep}.json"
        command = [TRACEWISE, "merge", "--keep", keep, *files, "-o", out, "--output", "json"]
        seconds, peak = run(command, repeat)
        said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        row(keep, f"{seconds * 1e3:.0f}", f"{seconds / events * 1e9:.0f}", f"{peak:.0f}", f"{said['states']:,}", f"{said['transitions']:,}")


def example(*arguments):
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "tracewise", "--example", "models"], cwd=ROOT, check=True)
    program = ROOT / "target" / "release" / "examples" / "models"
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    header = lines[0].split(",")
    rows = [dict(zip(header, line.split(","))) for line in lines[1:] if not line.startswith("#")]
    return rows, [line for line in lines if line.startswith("#")]


def check(states):
    rows, notes = example("--states", states)
    table(f"In memory, {int(rows[0]['states']):,} states, {int(rows[0]['transitions']):,} transitions, transitions backwards included", "logic", "formula", "holds", "ms", "check alone ms")
    for found in rows:
        row(found["logic"], f"`{found['formula']}`".replace("|", "\\|"), found["holds"], f"{float(found['milliseconds']):.1f}", f"{float(found['check alone']):.1f}")
    print("\n" + "; ".join(notes))


def peer(repeat):
    python = installed("pyModelChecking")
    path = DATA / "peer.json"
    mine, _ = example("--states", 10_000, "--json", path)
    table("Beside pyModelChecking, 10,000 states, 5 transitions each", "formula", "check ms", "pyModelChecking ms", "ratio", "with path ms", "whole process ms")
    out = subprocess.run([python, "-c", PEER, path], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"pyModelChecking: {out.stderr[-800:]}")
    for line in out.stdout.splitlines():
        found = json.loads(line)
        own = next(own for own in mine if own["formula"] == found["formula"])
        assert (own["holds"] == "true") == found["holds"], (own, found)
        process, _ = run([TRACEWISE, "model-check", path, "--ctl", found["formula"], "--quiet"], repeat)
        ms = float(own["check alone"])
        row(f"`{found['formula']}`", f"{ms:.3f}", f"{found['seconds'] * 1e3:.0f}", f"{found['seconds'] * 1e3 / ms:.0f}",
            f"{float(own['milliseconds']):.2f}", f"{process * 1e3:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="merge,check,peer")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=ROOT, check=True)
    print(f"load at start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if "merge" in options.only:
        merge(traces(options.traces, options.rows), options.traces * options.rows, options.repeat)
    if "check" in options.only:
        check(options.states)
    if "large" in options.only:
        check(10_000_000)
    if "peer" in options.only:
        peer(options.repeat)
    print(f"\nload at end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
