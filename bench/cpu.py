#!/usr/bin/env python3
"""Processor time of the whole program on one thread, beside peers on the same files in the same run.

    bench/cpu.py [--rows 2000000] [--repeat 5] [--peers] [--binary target/release/tracewise]

Other programs on the machine change wall times, and processor times less: user and system time of the process are added, the
least of several interleaved runs counts, and what a program takes on an empty task (its start, and loading Python's libraries) is taken
off. `--peers` installs polars and duckdb with pip into bench/data/venv; they also write the Parquet file, which a binary built with
`--features parquet` is measured on. Writes its files into bench/data.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "bench" / "data"


def lines_of(kind, rows):
    dice = random.Random(kind)
    for at in range(rows):
        flags = at % 7 == 0, at % 5 == 0
        user, number = dice.randrange(1000), dice.randrange(1000)
        if kind == "events":
            yield f"{'logout' if at % 3 == 0 else 'login'},u{user},10.0.0.{number % 250}\n"
        elif kind == "monpoly":
            yield f"@{at // 10} {'approve' if at % 3 == 0 else 'publish'} (u{user})\n"
        elif kind == "jsonl-65":
            a, b = (str(flag).lower() for flag in flags)
            yield f'{{"time":{10**9 + at},"a":{a},"b":{b},"x":{number},"user":"u{user:03}"}}\n'
        elif kind == "jsonl-330":
            record = {"time": 10**9 + at, "level": "info", "host": f"web-{at % 40:02}", "a": flags[0], "b": flags[1],
                      "x": dice.randrange(100_000), "user": f"u{user:05}"}
            for field in range(13):
                value = dice.randrange(10**6)
                record[f"field{field:02}"] = value if field % 2 else f"v{value:07}"
            yield json.dumps(record, separators=(",", ":")) + "\n"
        elif kind == "csv-users":
            yield f"{at},{int(flags[0])},{int(flags[1])},{dice.randrange(100_000)},{dice.random() * 100:.3f},u{user}\n"
        elif kind == "csv-8":
            yield ",".join("01"[dice.randrange(4) == 0] for _ in range(8)) + "\n"


HEADERS = {"csv-users": "time,p,q,x,y,user\n", "csv-8": "a,b,c,d,e,f,g,h\n"}


def file(kind, rows):
    DATA.mkdir(exist_ok=True)
    extension = {"events": "events", "monpoly": "log"}.get(kind, "jsonl" if kind.startswith("json") else "csv")
    path = DATA / f"cpu-{kind}-{rows}.{extension}"
    if not path.exists():
        with open(path, "w") as out:
            out.write(HEADERS.get(kind, ""))
            out.writelines(lines_of(kind, rows))
    return path


def cpu(command, environment=None):
    """User and system time of one run, in seconds."""
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             env={**os.environ, **(environment or {})})
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{command}: {child.stderr.read().decode()[:500]}")
    child.stderr.close()
    return usage.ru_utime + usage.ru_stime


def least(commands, repeat):
    """Of each command the least time, all of them in turns."""
    best = [float("inf")] * len(commands)
    for _ in range(repeat):
        for at, (command, environment) in enumerate(commands):
            best[at] = min(best[at], cpu(command, environment))
    return best


def many(count, path):
    """A specification of so many properties, most of them violated."""
    letters = "abcdefgh"
    shapes = ["G ({0} -> F {1})", "G ({0} -> ({0} U {1}))", "G ({1} -> O {0})", "F ({0} & X {1})",
              "G (({0} S {1}) | !{0} | F {2})"]
    with open(path, "w") as out:
        for at in range(count):
            names = letters[at % 8], letters[at // 8 % 8], letters[at // 64 % 8]
            out.write(f"property p{at} : {shapes[at % len(shapes)].format(*names)};\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "tracewise")
    options = parser.parse_args()
    rows, repeat = options.rows, options.repeat
    one = {"POLARS_MAX_THREADS": "1"}
    duck = "import duckdb, sys; duckdb.sql('set threads=1'); print(duckdb.sql({0!r}.format(sys.argv[1])))"
    polar = "import polars as p, sys; print({0})"

    def check(formula, path, *more):
        return [options.binary, "check", "--threads", "1", "--no-explain", "-e", formula, *more, path]

    tasks = [
        ("events", "`G (login -> F logout)`", lambda path: check("G (login -> F logout)", path), None, None),
        ("monpoly", "`G (publish -> O[0,600] approve)`", lambda path: check("G (publish -> O[0,600] approve)", path), None, None),
        ("jsonl-65", "`G (a -> F b)`", lambda path: check("G (a -> F b)", path),
         "p.scan_ndjson(sys.argv[1]).select(p.col('a').sum(), p.col('b').sum()).collect()",
         "select sum(a::int), sum(b::int) from read_json('{0}', format='newline_delimited')"),
        ("jsonl-330", "`G (a -> F (b | x > 99998))`", lambda path: check("G (a -> F (b | x > 99998))", path),
         "p.scan_ndjson(sys.argv[1]).select(p.col('a').sum(), p.col('b').sum(), p.col('x').max()).collect()",
         "select sum(a::int), sum(b::int), max(x) from read_json('{0}', format='newline_delimited')"),
        ("csv-users", "`max[x] by user`", lambda path: [options.binary, "query", "--threads", "1", "-e", "max[x] by user", path],
         "p.scan_csv(sys.argv[1]).group_by('user').agg(p.col('x').max()).collect()",
         "select \"user\", max(x) from read_csv('{0}') group by 1"),
    ]
    parquet = ("`max[x] by user`", lambda path: [options.binary, "query", "--threads", "1", "-e", "max[x] by user", path],
               "p.scan_parquet(sys.argv[1]).group_by('user').agg(p.col('x').max()).collect()",
               "select \"user\", max(x) from read_parquet('{0}') group by 1")
    python = None
    if options.peers:
        venv = DATA / "venv"
        DATA.mkdir(exist_ok=True)
        if not (venv / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "-q", "polars", "duckdb"], check=True)
        python = venv / "bin" / "python"

    tiny = DATA / "cpu-tiny.csv"
    DATA.mkdir(exist_ok=True)
    tiny.write_text("a,b\n0,1\n")
    floors = [(check("G (a -> F b)", tiny), None)]
    if python:
        floors += [([python, "-c", polar.format("p.scan_csv(sys.argv[1]).select(p.len()).collect()"), tiny], one),
                   ([python, "-c", duck.format("select count(*) from read_csv('{0}')"), tiny], None)]
    floor = least(floors, repeat)

    load = os.getloadavg()[0]
    print(f"{rows:,} rows, processor time of one thread, load {load:.0f} on {os.cpu_count()} cores\n")
    if python:
        packed = DATA / f"cpu-users-{rows}.parquet"
        if not packed.exists():
            script = "import polars as p, sys; p.read_csv(sys.argv[1]).write_parquet(sys.argv[2], compression='snappy')"
            subprocess.run([python, "-c", script, file("csv-users", rows), packed], check=True)
        if subprocess.run(parquet[1](packed), capture_output=True).returncode == 0:
            tasks.append(("parquet", *parquet))
        else:
            print("(this binary was built without `--features parquet`)\n")
    print("| file | question | MB | ms | M rows/s | GB/s | `wc -l` | polars | duckdb |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind, said, command, polars, duckdb in tasks:
        path = packed if kind == "parquet" else file(kind, rows)
        commands = [(command(path), None), (["wc", "-l", path], None)]
        if python and polars:
            commands += [([python, "-c", polar.format(polars), path], one), ([python, "-c", duck.format(duckdb), path], None)]
        found = least(commands, repeat)
        own = max(found[0] - floor[0], 1e-6)
        peers = [f"{max(time - start, 0) / own:.1f}×" for time, start in zip(found[2:], floor[1:])] or ["", ""]
        size = path.stat().st_size
        cells = [kind, said, f"{size / 1e6:.0f}", f"{own * 1e3:.0f}", f"{rows / own / 1e6:.1f}", f"{size / own / 1e9:.2f}",
                 f"{found[1] / own:.1f}×", *peers]
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")

    path = file("csv-8", rows)
    specs = [many(count, DATA / f"cpu-many-{count}.tw") for count in (10, 1000)]
    commands = [([options.binary, "check", "--threads", "1", spec, path], None) for spec in specs]
    ten, thousand = (time - floor[0] for time in least(commands, repeat))
    print(f"\n10 and 1,000 explained properties over 8 columns, {rows:,} rows: {ten * 1e3:.0f} and {thousand * 1e3:.0f} ms, "
          f"{thousand / ten:.1f}×")


if __name__ == "__main__":
    main()
