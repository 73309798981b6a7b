#!/usr/bin/env python3
"""Real time beside its peers: the ten Timescales properties on JSONL traces, and robustness per sample.

    bench/realtime.py [--rows 1000000] [--bounds 10,100,1000] [--repeat 5] [--only timescales,flat,peers,robust]

Builds the release binary, writes traces with bench/timescales.py into bench/data, installs Reelay, RTAMT and mstlo with pip
into bench/data/venv and r2u2 with cargo into bench/data/r2u2, and prints Markdown tables with the load of the machine. A row is
one position. Our time is CPU of the whole process, both cores counted: file in, verdict and violation count out. Peers read the
same rows; what is theirs to read them with is said below each table. `flat` counts instructions with valgrind.
"""

import argparse
import functools
import json
import os
import re
import subprocess
import sys

import peers
import timescales
from run import DATA, ROOT, TRACEWISE, installed, row, table

# One row at a time from JSON lines, as a program that watches a stream would.
REELAY = """
import json, sys, time, reelay
monitor = reelay.discrete_timed_monitor(sys.argv[1], condense=False)
lines = open(sys.argv[2]).readlines()
started, count, alone = time.process_time(), 0, 0.0
for line in lines:
    count += not monitor.update(json.loads(line))["value"]
print(json.dumps({"seconds": time.process_time() - started, "rows": len(lines), "violations": count}))
"""

# The whole trace at once, which RTAMT does best; reading the JSON is not counted.
RTAMT = """
import json, sys, time, rtamt
lines = [json.loads(line) for line in open(sys.argv[2])]
trace = {"x" + name: [1.0 if line[name] else -1.0 for line in lines] for name in "pqrs"}
trace["time"] = list(range(len(lines)))
spec = rtamt.StlDiscreteTimeSpecification()
for name in "pqrs":
    spec.declare_var("x" + name, "float")
spec.spec = sys.argv[1]
spec.parse()
started = time.process_time()
values = spec.evaluate(trace)
print(json.dumps({"seconds": time.process_time() - started, "rows": len(lines), "violations": sum(value < 0 for _, value in values)}))
"""

# One sample at a time, values made beforehand.
MSTLO = """
import json, sys, time, random, mstlo_python as mstlo
formula, semantics, samples = sys.argv[1], sys.argv[2], int(sys.argv[3])
monitor = mstlo.Monitor(mstlo.parse_formula(formula), semantics=semantics)
names = [name for name in "xy" if name in formula]
rng = random.Random(1)
values = [[rng.uniform(-1, 1) for _ in names] for _ in range(samples)]
started = time.process_time()
for at, sample in enumerate(values):
    for name, value in zip(names, sample):
        monitor.update(name, value, float(at))
print(json.dumps({"seconds": time.process_time() - started, "rows": samples}))
"""


def words(formula, atom, operators, bounds):
    """Puts another tool's words for ours, one by one."""
    def word(found):
        text = found.group(0)
        if text[0] == "[":
            low, high = text[1:-1].split(",")
            return bounds(low, high)
        return atom(text) if text in "pqrs" else operators.get(text, text)
    return re.sub(r"\[[^\])]*[\])]|->|[pqrsOHS!&|]", word, formula)


def reelay_words(formula):
    operators = {"O": "once", "H": "historically", "S": " since", "!": "not ", "&": "and", "|": "or"}
    return words(formula, lambda name: "{%s}" % name, operators, lambda low, high: f"[{low}:{high}]")


def since_from(formula, operand):
    """`a S[u,inf) b` in the words of tools without unbounded intervals that begin late: a over the last u positions, and
    before them `a S b`."""
    found = re.search(r"\(\(!s\) S\[(\d+),inf\) p\)", formula)
    if not found:
        return formula
    u = int(found.group(1))
    return formula.replace(found.group(0), f"((H[0,{u - 1}] (!s)) & (O[{u},{u}] ((!s) {operand} p)))")


def rtamt_words(formula):
    operators = {"O": "once", "H": "historically", "S": "since", "!": "not ", "&": "and", "|": "or"}
    atom = lambda name: f"(x{name} > 0)"
    return words(since_from(formula, "S"), atom, operators, lambda low, high: f"[{low}:{high}]")


def r2u2_words(formula, mission):
    """MLTL has no unbounded operators: the length of the trace stands for infinity."""
    formula = since_from(formula, "S")
    formula = re.sub(r"\b([OS])(?!\[)", rf"\1[0,{mission}]", formula)
    return words(formula, str, {"&": "&&", "|": "||"}, lambda low, high: f"[{low},{high}]")


def cpu(command, repeat):
    """Least CPU seconds of `repeat` runs, peak memory in MB, and what it printed."""
    best, peak, out = float("inf"), 0, b""
    for _ in range(repeat):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, error = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        child.returncode = code
        if code not in (0, 1):
            sys.exit(f"{command} exited with {code}: {error.decode()[:500]}")
        best = min(best, usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss / 1024)
    return best, peak, out


def trace(name, rows, u, violate):
    DATA.mkdir(exist_ok=True)
    path = DATA / f"timescales-{name}-{rows}-{u}{'-end' if violate else ''}.jsonl"
    if not path.exists():
        part = path.with_suffix(".part")
        timescales.write(part, name, rows, u, violate)
        part.rename(path)
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL)
    return path


def check(path, formula):
    return [TRACEWISE, "check", "-e", f"G ({formula})", path, "--output", "json", "--violations", "1"]


@functools.cache
def python():
    return installed("reelay", "rtamt", "mstlo-python")


def tool(script, *arguments):
    out = subprocess.run([python(), "-c", script, *map(str, arguments)], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{arguments}: {out.stderr[-800:]}")
    return json.loads(out.stdout.splitlines()[-1])


def own(rows, bounds, repeat):
    """Every property, satisfied and violated at the end."""
    table(f"`check`, {rows:,} rows of JSONL: CPU ns per row (satisfied / violated at the end)", "property",
          *(f"u = {u:,}" for u in bounds), "peak MB")
    for name in timescales.PROPERTIES:
        cells, most = [], 0
        for u in bounds:
            pair = []
            for violate in (False, True):
                path = trace(name, rows, u, violate)
                seconds, peak, out = cpu(check(path, timescales.formula(name, u)), repeat)
                said = json.loads(out.splitlines()[0])
                expected = "violated" if violate else "satisfied"
                assert said["verdict"] == expected and said["events"] == rows, (name, u, said)
                pair.append(f"{seconds / rows * 1e9:.0f}")
                most = max(most, peak)
                path.unlink()
            cells.append(" / ".join(pair))
        row(name, *cells, f"{most:.0f}")


def flat(rows, bounds):
    """Instructions of a whole `check`, from which those of an empty one are taken."""
    table(f"`check`, {rows:,} rows: instructions per row (valgrind, one thread)", "property", *(f"u = {u:,}" for u in bounds), "spread")
    for name in timescales.PROPERTIES:
        counts = []
        for u in bounds:
            path = trace(name, rows, u, False)
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *check(path, timescales.formula(name, u)), "--threads", "1"]
            error = subprocess.run(command, capture_output=True, text=True).stderr
            counts.append(int(re.search(r"Collected : (\d+)", error).group(1)) / rows)
            path.unlink()
        row(name, *(f"{count:.0f}" for count in counts), f"{(max(counts) / min(counts) - 1) * 100:.1f} %")


def beside(rows, bounds, repeat):
    """The same rows for everybody. Slow peers get fewer of them."""
    few = min(rows, 10_000)
    for u in bounds:
        table(f"u = {u:,}: CPU ns per row", "property", "tracewise", "Reelay", "ratio", f"RTAMT ({few:,} rows)", "ratio", f"r2u2 ({few:,} rows of CSV)", "ratio")
        for name in timescales.PROPERTIES:
            path, formula = trace(name, rows, u, True), timescales.formula(name, u)
            seconds, _, out = cpu(check(path, formula), repeat)
            mine, count = seconds / rows * 1e9, json.loads(out.splitlines()[0])["violation_count"]
            reelay = tool(REELAY, reelay_words(formula), path)
            assert reelay["violations"] == count, (name, u, count, reelay)
            cells = [reelay["seconds"] / reelay["rows"] * 1e9]
            short = trace(name, few, u, True)
            rtamt = tool(RTAMT, rtamt_words(formula), short)
            count = json.loads(cpu(check(short, formula), 1)[2].splitlines()[0])["violation_count"]
            assert rtamt["violations"] == count, (name, u, count, rtamt)
            cells.append(rtamt["seconds"] / few * 1e9)
            cells.append(r2u2(name, formula, u, few))
            shown = [text for cell in cells for text in (("", "") if cell is None else (f"{cell:,.0f}", f"{cell / mine:.0f}"))]
            row(name, f"{mine:.0f}", *shown)
            path.unlink()
            short.unlink(missing_ok=True)
    print("\nReelay's Python monitor takes one JSON line at a time, RTAMT lists of numbers (reading them is not counted). Violation counts are equal.\n"
          "r2u2 knows the first sample of `S[l,u]` otherwise, so its counts are not compared; it is empty where its queues are too short.")


def robust():
    """Values and bounds per sample, ours in memory by the crate's own benchmark, mstlo's sample by sample from Python."""
    command = ["cargo", "bench", "-q", "-p", "tw-engine-robust", "--", "uniform", "walk"]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    ours = {}
    for line in out.splitlines():
        found = re.match(r"(.*walk)\s+([\d.]+)", line)
        if found:
            ours[" ".join(found.group(1).split())] = float(found.group(2))
    kinds = [("values", "DelayedQuantitative", {"whole trace": "columns uniform", "stream, 500 at a time": "stream, batches of 500: uniform",
                                                "stream, one by one": "stream, one by one: uniform"}),
             ("bounds", "Rosi", {"oldest pending": "oldest bounds: uniform", "every pending": "all bounds: uniform"})]
    for title, semantics, heads in kinds:
        table(f"Robustness, {title}: ns per sample", "formula", *heads, "mstlo", "ratio to the last of ours")
        for width in (1000, 10_000):
            for formula, theirs in ((f"F[0,{width}] x > 0", f"F[0, {width}](x > 0)"), (f"G[0,{width}] x > 0", f"G[0, {width}](x > 0)"),
                                    (f"x > 0 U[0,{width}] y > 0", f"(x > 0) U[0, {width}] (y > 0)")):
                mine = [ours[f"{kind} {formula} walk"] for kind in heads.values()]
                # Its intervals of every pending position take milliseconds.
                samples = 2 * width if semantics == "Rosi" and width == 1000 else 0 if semantics == "Rosi" else 5 * width
                peer = tool(MSTLO, theirs, semantics, samples) if samples else None
                ns = peer and peer["seconds"] / peer["rows"] * 1e9
                row(f"`{formula}`", *(f"{value:.1f}" for value in mine), f"{ns:,.0f}" if ns else "", f"{ns / mine[-1]:,.0f}" if ns else "")


def r2u2(name, formula, u, rows):
    """CPU ns per row, or `None` where its queues (2,048 slots in all as built) are too short: it stops then. Infinity is six bounds,
    within which these traces repeat themselves."""
    folder = DATA / "r2u2-run"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.c2po").write_text(f"INPUT\n    p,q,r,s: bool;\nPTSPEC\n    f: {r2u2_words(formula, 6 * u)};\n")
    lines = ["# p,q,r,s", *("%d,%d,%d,%d" % values for values in zip(*timescales.columns(name, rows, u, True)))]
    (folder / "trace.csv").write_text("\n".join(lines) + "\n")
    program = peers.r2u2()
    subprocess.run([program, "compile", "spec.c2po", "trace.csv"], cwd=folder, check=True, capture_output=True)
    child = subprocess.Popen([program, "run", "spec.bin", "trace.csv"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime) / rows * 1e9 if child.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bounds", default="10,100,1000")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="timescales,flat,peers,robust")
    options = parser.parse_args()
    bounds = [int(bound) for bound in options.bounds.split(",")]
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=ROOT, check=True)
    print(f"load at start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if "timescales" in options.only:
        own(options.rows, bounds, options.repeat)
    if "flat" in options.only:
        flat(min(options.rows, 100_000), bounds)
    if "peers" in options.only:
        beside(options.rows, bounds, options.repeat)
    if "robust" in options.only:
        robust()
    print(f"\nload at end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
