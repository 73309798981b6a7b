#!/usr/bin/env python3
"""Benchmarks of the whole program, beside peers on the same files in the same run.

    bench/run.py [--rows 1000000,10000000] [--peers] [--parquet] [--repeat 5] [--only formulas,properties,formats,peers]

Builds the release binary, writes traces into bench/data (kept for the next run), and prints Markdown tables: wall time
(best of N, runs interleaved), GB/s, ratio to `wc -l`, peak memory. `--peers` installs polars and duckdb with pip into
bench/data/venv and scans the same files with them. Times in memory: `cargo bench -p tw-engine-columnar`; readers alone:
`cargo bench -p tw-trace`.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "bench" / "data"
TRACEWISE = ROOT / "target" / "release" / "tracewise"
GENERATE = ROOT / "target" / "release" / "examples" / "generate"

FORMULAS = [
    "G (a -> F b)",
    "F (a & b)",
    "G (a | b | N !a)",
    "a U b",
    "G (a -> (a U b))",
    "G (b -> O a)",
    "G (b -> (b S a))",
    "H (a | Z b)",
    "G (a -> Y b | X b)",
    "F G (a | b)",
    "G F b",
    "G (a -> X X X b | b | F a)",
    "G ((a S b) | (a U b) | !a)",
    "(a W b) & (b R (a | b))",
    "G (a -> (!b U (b U (!b U b))))",
    "F (a & Y (a & Y (a & Y a)))",
    "G (O (a & Y b) -> F (b & X a))",
    "G (a -> F (b & O (a & X (b | F a))))",
    "F (H (a | b)) | G (O b -> F a)",
    "G (a -> F (b & X F (a & X F (b & X F a))))",
    "O (a & X (b S (a & Y (a | F (b & X a)))))",
]


def run(command, repeat):
    """Best wall time, and peak resident memory in MB, of `repeat` runs."""
    best, peak = float("inf"), 0
    for _ in range(repeat):
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(child.pid, 0)
        best = min(best, time.perf_counter() - started)
        peak = max(peak, usage.ru_maxrss / 1024)
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, 1):
            sys.exit(f"{command} exited with {code}: {child.stderr.read().decode()[:500]}")
        child.stderr.close()
    return best, peak


def installed(*packages):
    """The Python of bench/data/venv, with these packages from pip."""
    venv = DATA / "venv"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin" / "pip", "install", "-q", *packages], check=True)
    return venv / "bin" / "python"


def data(kind, extension, rows):
    DATA.mkdir(exist_ok=True)
    path = DATA / f"{kind}-{rows}.{extension}"
    if not path.exists():
        subprocess.run([GENERATE, kind, str(rows), path], check=True)
    path.read_bytes() if rows <= 1_000_000 else subprocess.run(["cat", path], stdout=subprocess.DEVNULL)
    return path


def check(path, *formulas):
    return [TRACEWISE, "check", "--no-explain", *(x for f in formulas for x in ("-e", f)), path]


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def table(title, *header):
    print(f"\n### {title}\n")
    row(*header)
    row(*["---"] * len(header))


def formulas(rows, repeat):
    table(f"Formulas end to end from CSV, {rows:,} positions", "formula", "ms", "ns/position")
    path = data("csv", "csv", rows)
    for formula in FORMULAS:
        seconds, _ = run(check(path, formula), repeat)
        row(f"`{formula}`".replace("|", "\\|"), f"{seconds * 1e3:.1f}", f"{seconds / rows * 1e9:.2f}")


def formats(rows, repeat, parquet):
    table(f"`G (a -> F b)` end to end, {rows:,} positions", "file", "MB", "wc -l ms", "ms", "× wc -l", "GB/s", "peak MB")
    kinds = [("csv", "csv", 1), ("csv-words", "csv", 1), ("props", "props", 1), ("jsonl5", "jsonl", 10), ("jsonl20", "jsonl", 10)]
    files = [(kind, data(kind, ext, max(rows // divide, 1000))) for kind, ext, divide in kinds]
    if parquet and rows <= 10_000_000:
        path = DATA / f"csv-{rows}.parquet"
        if not path.exists():
            subprocess.run([TRACEWISE, "convert", files[0][1], "-o", path], stdout=subprocess.DEVNULL, check=True)
        files.append(("parquet", path))
    for kind, path in files:
        lines, mine, peak = float("inf"), float("inf"), 0
        for _ in range(repeat):  # interleaved, so that both see the same machine
            lines = min(lines, run(["wc", "-l", path], 1)[0])
            seconds, memory = run(check(path, "G (a -> F b)"), 1)
            mine, peak = min(mine, seconds), max(peak, memory)
        size = path.stat().st_size
        row(f"{kind}", f"{size / 1e6:.0f}", f"{lines * 1e3:.1f}", f"{mine * 1e3:.1f}", f"{mine / lines:.2f}",
            f"{size / mine / 1e9:.2f}", f"{peak:.0f}")


def properties(rows, repeat):
    table(f"Many properties over one CSV of 8 columns, {rows:,} positions", "properties", "ms", "ratio to 10")
    path = data("csv8", "csv", rows)
    letters = "abcdefgh"
    shapes = ["G ({0} -> F {1})", "G ({0} -> ({0} U {1}))", "G ({1} -> O {0})", "F ({0} & X {1})", "G (({0} S {1}) | !{0} | F {2})"]
    times = {}
    for count in (1, 10, 100, 1000):
        spec = DATA / f"many-{count}.tw"
        with open(spec, "w") as out:
            for k in range(count):
                p, q, r = letters[k % 8], letters[(k // 8) % 8], letters[(k // 64) % 8]
                out.write(f"property p{k} : {shapes[k % len(shapes)].format(p, q, r)};\n")
        times[count], _ = run([TRACEWISE, "check", "--no-explain", spec, path], repeat)
        row(count, f"{times[count] * 1e3:.1f}", f"{times[count] / times.get(10, times[count]):.2f}")


PEER = {
    "polars": "import polars as p, sys; print(p.scan_csv(sys.argv[1]).select(p.col('a').sum(), p.col('b').sum()).collect())",
    "duckdb": "import duckdb, sys; print(duckdb.sql(f\"select sum(a), sum(b) from read_csv('{sys.argv[1]}')\"))",
}
PEER_JSON = {
    "polars": "import polars as p, sys; print(p.scan_ndjson(sys.argv[1]).select(p.col('a').sum(), p.col('b').sum(), p.col('queue').max()).collect())",
    "duckdb": "import duckdb, sys; print(duckdb.sql(f\"select sum(a::int), sum(b::int), max(queue) from read_json('{sys.argv[1]}', format='newline_delimited')\"))",
}


def peers(rows, repeat):
    python = installed("polars", "duckdb")
    floor, _ = run([python, "-c", "import polars, duckdb"], repeat)
    table(f"Beside other scanners, {rows:,} rows (a peer's own start-up of {floor * 1e3:.0f} ms for both libraries is in its time)",
          "file", "what", "ms", "ratio to tracewise")
    for kind, ext, divide, scripts, formula in (
        ("csv", "csv", 1, PEER, "G (a -> F b)"),
        ("jsonl20", "jsonl", 10, PEER_JSON, "G (a -> F (b | queue > 900))"),
    ):
        path = data(kind, ext, max(rows // divide, 1000))
        mine, _ = run(check(path, formula), repeat)
        row(kind, f"tracewise check `{formula}`".replace("|", "\\|"), f"{mine * 1e3:.1f}", "1.00")
        lines, _ = run(["wc", "-l", path], repeat)
        row(kind, "wc -l", f"{lines * 1e3:.1f}", f"{lines / mine:.2f}")
        for name, script in scripts.items():
            seconds, _ = run([python, "-c", script, path], repeat)
            row(kind, f"{name}: sums of the same columns", f"{seconds * 1e3:.1f}", f"{seconds / mine:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000000,10000000,100000000")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="install polars and duckdb with pip and compare")
    parser.add_argument("--parquet", action="store_true", help="build with Parquet and measure it too (up to 1e7 rows)")
    parser.add_argument("--only", default="formulas,formats,properties,peers")
    options = parser.parse_args()
    features = ["--features", "parquet"] if options.parquet else []
    subprocess.run(["cargo", "build", "--release", "-q", *features], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "tw-testkit", "--example", "generate"], cwd=ROOT, check=True)
    print(f"load at start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores; page size {resource.getpagesize()}")
    only = options.only.split(",")
    for rows in (int(r) for r in options.rows.split(",")):
        if "formulas" in only:
            formulas(rows, options.repeat)
        if "formats" in only:
            formats(rows, options.repeat, options.parquet)
        if "properties" in only:
            properties(rows, options.repeat)
        if options.peers and "peers" in only:
            peers(rows, options.repeat)
    print(f"\nload at end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
