#!/usr/bin/env python3
"""The Python package: verbs on data in memory, monitors, and the same formulas by RTAMT, Reelay and mstlo in this process.

    bench/python.py [--rows 2000000] [--events 200000]

Run it with an interpreter that has the package (`pip install ./python`), pyarrow, polars and pandas; RTAMT, Reelay and mstlo
(`mstlo-python`) are left out if they are not there. Figures are CPU time of the process (all threads), the best of several runs.
"""

import argparse
import os
import resource
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import tracewise as tw

SPEC = tw.Spec("property p1 : G (a -> F[0,5s] b); property p2 : G (x < 0.9999999); property p3 : G (ms < 5999);")


def cpu(work, runs):
    """Seconds of CPU, the least of so many runs, and the last result."""
    least = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_SELF)
        found = work()
        after = resource.getrusage(resource.RUSAGE_SELF)
        least = min(least, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return least, found


def line(what, seconds, per=None, beside=""):
    each = f"{seconds / per * 1e6:10.3f} µs each" if per else " " * 18
    print(f"{what:46} {seconds * 1e3:10.1f} ms {each}  {beside}", flush=True)


def verbs(rows):
    draw = np.random.default_rng(1)
    table = pa.table({
        "time": np.arange(rows),
        "x": draw.random(rows),
        "a": draw.random(rows) < 0.5,
        "b": draw.random(rows) < 0.3,
        "user": pa.array([f"u{number}" for number in draw.integers(0, 100_000, rows)]),
        "ms": draw.integers(0, 6000, rows),
    })
    frame, panda = pl.from_arrow(table), table.to_pandas()
    print(f"{rows} rows, 3 properties, report and explanations")
    line("check, pyarrow", cpu(lambda: SPEC.check(table), 5)[0])
    line("check by user, pyarrow", cpu(lambda: SPEC.check(table, by="user"), 3)[0])
    line("check, polars", cpu(lambda: SPEC.check(frame), 5)[0])
    line("check, pandas", cpu(lambda: SPEC.check(panda), 5)[0])
    seconds, found = cpu(lambda: len(SPEC.check(table).violations), 3)
    line("check, all violations in a table", seconds, beside=f"{found} violations")
    seconds, found = cpu(lambda: len(SPEC.check(table, by="user").violations), 3)
    line("check by user, all violations in a table", seconds, beside=f"{found} violations")
    report = SPEC.check(table, by="user")
    report.violations
    seconds, found = cpu(lambda: len(report.violations), 1)
    line("the table once more", seconds, beside=f"{found} violations")
    seconds, found = cpu(lambda: sum(len(own.violations) for own in report.properties), 1)
    line("a list of objects of the same", seconds, beside=f"{found} violations")
    line("Monitor.feed, pyarrow", cpu(lambda: SPEC.monitor().feed(table), 2)[0], rows)


TEN = """
    property p0 : G (a -> F b);
    property p1 : G F c;
    property p2 : G (d -> (e R f) | F g);
    property p3 : G (h -> X (i | F j));
    property p4 : F G k;
    property p5 : G (a & !b -> F (c | l));
    property p6 : G (l -> Y a | F a);
    property p7 : F (G c | G d & F e);
    property p8 : G ((b S c) -> F d);
    property p9 : G (e -> F (f & X F g));
"""


def ten(rows):
    """The ten properties of `cargo run --release -p tracewise --example slots`, which pushes rows from Rust."""
    draw = np.random.default_rng(7)
    table = pa.table({name: draw.random(rows) < 1 / 8 for name in "abcdefghijkl"})
    spec = tw.Spec(TEN)
    print(f"\n{rows} events, ten properties")
    for size in (1, 16, 256, 4096, 65_536):
        batches = table.slice(0, min(rows, size * 100_000)).to_batches(max_chunksize=size)[:100_000]
        count = sum(batch.num_rows for batch in batches)

        def feed():
            monitor = spec.monitor()
            for batch in batches:
                monitor.feed(batch)

        line(f"Monitor.feed, {size} rows at a time", cpu(feed, 3)[0], count)


def push(events):
    rows = [{"a": at % 2 == 0, "b": at % 3 == 0, "x": float(at % 2)} for at in range(events)]
    spec = tw.Spec("property p : G (a -> F b); property q : G (x < 2);")

    def one_by_one():
        monitor = spec.monitor()
        for row in rows:
            monitor.push(row)

    print(f"\n{events} events, 2 properties")
    line("Monitor.push", cpu(one_by_one, 4)[0], events)
    line("Monitor.feed of rows", cpu(lambda: spec.monitor().feed(rows), 4)[0], events)


def rtamt_beside(samples):
    try:
        import rtamt
    except ImportError:
        return print("\nRTAMT is not installed")
    times, values = list(range(samples)), np.sin(np.arange(samples) / 50.0) * 3
    print(f"\nrobustness of {samples} samples, RTAMT {getattr(rtamt, '__version__', '0.4')} (offline, discrete)")
    for theirs, ours in (
        ("out = always[0:10](x <= 2.5)", "G[0,10] (x <= 2.5)"),
        ("out = always((x >= 2) implies eventually[0:50](x <= 1))", "G (x >= 2 -> F[0,50] x <= 1)"),
    ):
        spec = rtamt.StlDiscreteTimeSpecification()
        spec.declare_var("x", "float")
        spec.declare_var("out", "float")
        spec.spec = theirs
        spec.parse()
        data = {"time": times, "x": values.tolist()}
        other, found = cpu(lambda: spec.evaluate(data), 2)
        table = pa.table({"time": times, "x": values})
        own, report = cpu(lambda: tw.robust(ours, table), 5)
        same = np.allclose(report.at_all, [value for _, value in found])
        line(ours, own, samples, f"RTAMT {other * 1e3:.0f} ms, {other / own:.0f}×, values {'agree' if same else 'DIFFER'}")


def reelay_beside(events):
    try:
        import reelay
    except ImportError:
        return print("\nReelay is not installed")
    draw = np.random.default_rng(2)
    a, b = draw.random(events) < 0.05, draw.random(events) < 0.3
    print(f"\n{events} positions, Reelay (discrete, an update per position)")
    rows = [{"a": bool(p), "b": bool(q)} for p, q in zip(a, b)]
    table = pa.table({"a": a, "b": b})
    for theirs, ours in (
        ("{b: true} -> once[:5]{a: true}", "b -> O[0,5] a"),
        ("historically({a: true} -> once[2:20]{b: true})", "H (a -> O[2,20] b)"),
        # The shapes of the Timescales benchmark that comes with Reelay: absence after q, response.
        ("historically(once[:100]{b: true} -> (not{a: true} since {b: true}))", "H (O[0,100] b -> (!a S b))"),
        ("historically({b: true} -> once[10:100]{a: true})", "H (b -> O[10,100] a)"),
    ):
        def run():
            monitor = reelay.discrete_timed_monitor(theirs, condense=False)
            return [monitor.update(row) for row in rows]

        other, found = cpu(run, 2)
        own, report = cpu(lambda: tw.eval(ours, table), 5)
        same = [bool(step[0]["value"]) if isinstance(step, list) else bool(step["value"]) for step in found] == report.values.tolist()
        line(ours, own, events, f"Reelay {other * 1e3:.0f} ms, {other / own:.0f}×, values {'agree' if same else 'DIFFER'}")


def mstlo_beside(samples):
    try:
        import mstlo_python as mstlo
    except ImportError:
        return print("\nmstlo is not installed")
    # Online, as it is made to be; the whole signal is handed over in one call.
    values = np.sin(np.arange(samples) / 50.0) * 3
    print(f"\nrobustness of {samples} samples, mstlo {mstlo.__version__} (DelayedQuantitative, update_batch)")
    for formula in ("G[0,10] (x > -2.0)", "F[0,5] (G[0,20] (x < 2.5))", "G[0,100] (x > 2.0 -> F[0,50] (x < 1.0))", "G[0,1000] (x < 2.9)"):
        signal = {"x": [(float(value), float(at)) for at, value in enumerate(values)]}

        def run():
            monitor = mstlo.Monitor(mstlo.parse_formula(formula), semantics="DelayedQuantitative")
            return monitor.update_batch(signal).verdicts()

        other, found = cpu(run, 3)
        table = pa.table({"time": np.arange(samples), "x": values})
        own, report = cpu(lambda: tw.robust(formula, table), 5)
        # The last positions have no verdict there, which would come later.
        same = np.allclose(report.at_all[: len(found)], [value for _, value in found])
        line(formula, own, samples, f"mstlo {other * 1e3:.0f} ms, {other / own:.0f}×, values {'agree' if same else 'DIFFER'}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=2_000_000)
    arguments.add_argument("--events", type=int, default=200_000)
    given = arguments.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}")
    verbs(given.rows)
    ten(given.rows)
    push(given.events)
    rtamt_beside(min(given.events, 20_000))
    reelay_beside(given.events)
    mstlo_beside(given.events)


if __name__ == "__main__":
    main()
