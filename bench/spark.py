#!/usr/bin/env python3
"""Spark beside one process: the same rows, the same specification, and whether both say the same.

    bench/spark.py [--rows 10000000] [--keys 100000] [--kill]

Run it with an interpreter that has the package and PySpark (`pip install './python[spark]'`); Java is needed. There are two executors of one
core each (`local-cluster[2,1,1024]`). Rows are files of Parquet; times are of the wall clock and, behind the stroke, of the processors: of this
process, or of the driver, the executors and their workers. With `--kill` an executor is killed in the middle of a check by keys. In the
end stands what a terabyte of such files would take.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import tracewise as tw
from tracewise import spark

KEYED = tw.Spec("property paid : G (order -> F[0,600s] pay); property fast : G (ms < 5999); property seen : F see;")
POLICIES = {
    "approved": "property approved : G forall r. publish(id: r) -> O[0,5000s] approve(id: r);",
    "locks": "property locks : G forall r, u. lock(id: r, user: u) -> "
    "(!(exists w. lock(id: r, user: w) & !(w == u)) W unlock(id: r, user: u));",
}
FILES = 16


def keyed(rows, keys, folder):
    draw = np.random.default_rng(1)
    names = np.array([f"u{number}" for number in range(keys)])
    for number in range(FILES):
        begin, end = rows * number // FILES, rows * (number + 1) // FILES
        length = end - begin
        table = pa.table({
            "time": np.arange(begin, end) // 1000,
            "seq": np.arange(begin, end),
            "user": pa.array(names[draw.integers(0, keys, length)]),
            "event": pa.array(np.array(["order", "pay", "see"])[draw.integers(0, 3, length)]),
            "ms": draw.integers(0, 6000, length),
        })
        pq.write_table(table, folder / f"part-{number:04}.parquet")


def events(rows, ids, folder):
    draw = np.random.default_rng(2)
    for number in range(FILES):
        begin, end = rows * number // FILES, rows * (number + 1) // FILES
        length = end - begin
        table = pa.table({
            "time": np.arange(begin, end) // 1000,
            "seq": np.arange(begin, end),
            "event": pa.array(np.array(["publish", "approve", "lock", "unlock"])[draw.integers(0, 4, length)]),
            "id": draw.integers(0, ids, length),
            "user": draw.integers(0, 50, length),
        })
        pq.write_table(table, folder / f"part-{number:04}.parquet")


def used():
    """Seconds of processor that this process and those below it have taken, also those that have ended."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        stats[int(head.split()[0])] = (int(fields[1]), sum(map(int, fields[11:15])))
    own, ticks = {os.getpid()}, 0
    while more := {pid for pid, (parent, _) in stats.items() if parent in own} - own:
        own |= more
    for pid in own:
        ticks += stats.get(pid, (0, 0))[1]
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(work):
    began, before = time.monotonic(), used()
    found = work()
    return found, time.monotonic() - began, used() - before


def same(found, one):
    """Whether verdicts, counts and all violations are the same."""
    heads = [(own.name, own.verdict, own.violation_count) for own in found.properties]
    if heads != [(own.name, own.verdict, own.violation_count) for own in one.properties]:
        return False
    a = found.violations.toArrow()
    b = pa.table(one.violations).select(a.column_names)
    order = [(name, "ascending") for name in a.column_names]
    return a.sort_by(order).equals(b.cast(a.schema).sort_by(order))


def executors(session):
    own = f"--app-id {session.sparkContext.applicationId}"
    listed = subprocess.run(["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "CoarseGrainedExecutorBackend" in line and own in line]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--keys", type=int, default=100_000)
    arguments.add_argument("--parts", type=int, default=16)
    arguments.add_argument("--kill", action="store_true")
    arguments.add_argument("--only", choices=["keys", *POLICIES], action="append")
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tracewise-spark-"))
    print(f"load {os.getloadavg()[0]:.1f}, {given.rows} rows, {given.parts} parts, two executors of one core", flush=True)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.shuffle.partitions", str(given.parts)).config("spark.local.dir", str(folder))
    # What one map task reads.
    builder = builder.config("spark.sql.files.maxPartitionBytes", str(32 << 20)).config("spark.network.timeout", "600s")
    builder = builder.config("spark.python.authenticate.socketTimeout", "120s")
    if os.environ.get("PYTHONPATH"):
        builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    session = builder.getOrCreate()
    # Executors and their Python processes are started before anything is measured.
    session.range(10_000).repartition(4).mapInArrow(lambda batches: batches, "id long").count()
    try:
        for what in given.only or ["keys", *POLICIES]:
            own = folder / what
            own.mkdir()
            if what == "keys":
                keyed(given.rows, given.keys, own)
                spec, options = KEYED, {"by": "user"}
            else:
                events(given.rows, given.keys, own)
                spec, options = tw.Spec(POLICIES[what]), {}
            files = sorted(map(str, own.iterdir()))
            one, alone, cpu = timed(lambda: spec.check(files, concat=True, explain=False, **options))
            frame = session.read.parquet(str(own))
            if given.kill and what == "keys":
                threading.Timer(alone, lambda: os.kill(executors(session)[0], signal.SIGKILL)).start()
            found, together, spent = timed(lambda: spark.check(spec, frame, position="seq", **options))
            agree = "the same" if same(found, one) else "DIFFERENT"
            told = sum(own.violation_count for own in one.properties)
            print(
                f"{what:10} one process {alone:6.1f} / {cpu:6.1f} s, Spark {together:6.1f} / {spent:6.1f} s ({spent / cpu:.1f}× the processors), "
                f"{told} violations, {agree}",
                flush=True,
            )
            size = sum(os.path.getsize(file) for file in files) / given.rows
            hours = 1e12 / size * spent / given.rows / 3600
            print(f"           {size:.0f} bytes a row; a terabyte is {1e12 / size / 1e9:.0f}e9 rows, {hours:.0f} hours of one core with Spark, {hours * cpu / spent:.0f} without")
            found.unpersist()
            shutil.rmtree(own)
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
