#!/usr/bin/env python3
"""Queries from CSV, beside `check` on the same file and beside polars and duckdb.

    bench/queries.py [--rows 10000000] [--repeat 5] [--only check,peers]

Builds the release binary, writes traces into bench/data (kept for the next run), installs polars and duckdb with pip
into bench/data/venv, and prints Markdown tables. Runs are interleaved and the best of N counts. Our time is that of
the whole process; a peer's is that of the query alone, without the start of Python and the import of the library.
Times in memory and the growth with the length of a trace: `cargo run --release -p tracewise --example scaling`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from run import DATA, ROOT, TRACEWISE, installed, row, run, table

# name, our query, SQL for duckdb, polars expression over the lazy frame `t` (None: it would say the same as the SQL)
QUERIES = [
    ("count", "count[p]",
     "select nullif(count(*), 0) from t where p = 1",
     "t.select((p.col('p') == 1).sum())"),
    ("edges", "count[p & X !p]",
     "select count(*) from (select p, lead(p) over (order by row) as next from t) where p = 1 and next = 0",
     "t.select(((p.col('p') == 1) & (p.col('p').shift(-1) == 0)).sum())"),
    ("extremes", "max[x] - min[x]",
     "select max(x) - min(x) from t",
     "t.select(p.col('x').max() - p.col('x').min())"),
    ("mean where", "avg[p : y]",
     "select avg(y) from t where p = 1",
     "t.filter(p.col('p') == 1).select(p.col('y').mean())"),
    ("longest", "max[count[p while q]]",
     "with runs as (select p, q, sum(1 - q) over (order by row) as run from t) "
     "select max(c) from (select sum(p) as c from runs where q = 1 group by run)",
     "t.select('p', 'q', (1 - p.col('q')).cum_sum().alias('run')).filter(p.col('q') == 1)"
     ".group_by('run').agg(p.col('p').sum()).select(p.col('p').max())"),
    ("largest load", "max[sum[x while q]]",
     "with runs as (select row, x, q, sum(1 - q) over (order by row) as run from t), "
     "suffixes as (select sum(x) over (partition by run order by row desc) as s from runs where q = 1) "
     "select max(s) from suffixes",
     "t.select('x', 'q', (1 - p.col('q')).cum_sum().alias('run')).filter(p.col('q') == 1)"
     ".select(p.col('x').cum_sum(reverse=True).over('run').max())"),
    ("median", "median[x]",
     "select median(x) from t",
     "t.select(p.col('x').median())"),
    ("tail", "quantile(0.99)[y]",
     "select quantile_cont(y, 0.99) from t",
     "t.select(p.col('y').quantile(0.99, 'linear'))"),
    ("spread", "stddev[y]",
     "select stddev_pop(y) from t",
     "t.select(p.col('y').std(ddof=0))"),
    ("distinct", "distinct[user]",
     "select count(distinct \"user\") from t",
     "t.select(p.col('user').n_unique())"),
    ("per user", "max[x] by user",
     "select \"user\", max(x) from t group by \"user\"",
     "t.group_by('user').agg(p.col('x').max())"),
    ("per window", "count[p] every 1000s",
     "select time // 1000, sum(p) from t group by 1",
     "t.group_by(p.col('time') // 1000).agg(p.col('p').sum())"),
    ("two at once", "count[p] / count[q]",
     "select sum(p) / sum(q) from t",
     "t.select(p.col('p').sum() / p.col('q').sum())"),
]

PEER = {
    "duckdb": """
import duckdb, sys, time
path, sql = sys.argv[1], sys.argv[2]
duckdb.sql("set enable_progress_bar = false")
best = 1e9
for _ in range(int(sys.argv[3])):
    started = time.perf_counter()
    duckdb.sql(f"create or replace temp view t as select row_number() over () as row, * from read_csv('{path}')"
               if " row" in sql else f"create or replace temp view t as select * from read_csv('{path}')")
    result = duckdb.sql(sql).fetchall()
    best = min(best, time.perf_counter() - started)
print(best, str(result[:3])[:60])
""",
    "polars": """
import polars as p, sys, time
path, query = sys.argv[1], sys.argv[2]
best = 1e9
for _ in range(int(sys.argv[3])):
    started = time.perf_counter()
    t = p.scan_csv(path)
    result = eval(query).collect()
    best = min(best, time.perf_counter() - started)
print(best, str(result.rows()[:3])[:60])
""",
}


def trace(rows):
    """Columns time, p, q, x (whole, also negative), y (real), user; the same for every run."""
    DATA.mkdir(exist_ok=True)
    path = DATA / f"statistics-{rows}.csv"
    if not path.exists():
        rng = random.Random(1)
        with open(path, "w") as out:
            out.write("time,p,q,x,y,user\n")
            block = [f"{rng.random() < 0.3:d},{rng.random() < 0.9:d},{rng.randint(-50, 1000)},{rng.gauss(20, 5):.3f},u{rng.randint(0, 999)}"
                     for _ in range(100_003)]
            for at in range(rows):
                out.write(f"{at},{block[at % len(block)]}\n")
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL)
    return path


def query(path, text, *more):
    return [TRACEWISE, "query", "-e", text, *more, path]


def beside_check(path, rows, repeat):
    table(f"Queries beside `check` on the same CSV, {rows:,} positions", "query", "query ms", "check ms", "ratio")
    formula = "G (p -> F q)"
    for text in ("count[p]", "max[count[p while q]]", "count[p & X !p] / count[q]", "max[x]", "avg[p : y]", "median[x]"):
        mine, check = float("inf"), float("inf")
        for _ in range(repeat):  # interleaved, so that both see the same machine
            check = min(check, run([TRACEWISE, "check", "--no-explain", "-e", formula, path], 1)[0])
            mine = min(mine, run(query(path, text), 1)[0])
        row(f"`{text}`", f"{mine * 1e3:.1f}", f"{check * 1e3:.1f}", f"{mine / check:.2f}")


def peers(path, rows, repeat):
    python = installed("polars", "duckdb")
    table(f"Beside polars and duckdb, from CSV, {rows:,} rows", "what", "query", "tracewise ms", "duckdb ×", "polars ×", "answers")
    for name, text, sql, frame in QUERIES:
        mine, best = float("inf"), {"duckdb": float("inf"), "polars": float("inf")}
        answers = {}
        for _ in range(repeat):
            mine = min(mine, run(query(path, text), 1)[0])
            for peer, text_of in (("duckdb", sql), ("polars", frame)):
                out = subprocess.run([python, "-c", PEER[peer], path, text_of, "1"],
                                     capture_output=True, text=True)
                if out.returncode:
                    sys.exit(f"{peer}: {out.stderr[-500:]}")
                seconds, answer = out.stdout.strip().splitlines()[-1].split(" ", 1)
                best[peer] = min(best[peer], float(seconds))
                answers[peer] = answer.strip()
        first = subprocess.run(query(path, text, "--output", "json"), capture_output=True, text=True).stdout.splitlines()[0]
        value = json.loads(first)["value"]
        row(name, f"`{text}`", f"{mine * 1e3:.1f}", f"{best['duckdb'] / mine:.2f}", f"{best['polars'] / mine:.2f}",
            f"{value}; {answers['duckdb']}; {answers['polars']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="check,peers")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=ROOT, check=True)
    path = trace(options.rows)
    print(f"load at start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if "check" in options.only:
        beside_check(path, options.rows, options.repeat)
    if "peers" in options.only:
        peers(path, options.rows, options.repeat)
    print(f"\nload at end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
