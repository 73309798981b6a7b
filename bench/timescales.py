#!/usr/bin/env python3
"""Traces for the ten properties of the Timescales benchmark (D. Ulus, "Timescales: A Benchmark Generator for MTL Monitoring
Tools", RV 2019), written down anew: a trace of {time, p, q, r, s} that satisfies a property for a bound u (and l = 0.3 u),
and the same with a violation at its end.

    bench/timescales.py AbsentBQR --bound 100 --rows 1000000 [--violate] [--seed 1] > trace.jsonl
    bench/timescales.py --list --bound 100

`AbsentBQR` is meant as its name says: p is absent between q and r, and r comes l to u after q.
"""

import argparse
import random
import sys

# {u} and {l} are the bounds. All stand under G: at every position, past operators look back. Every operand of a binary operator
# is one word or in parentheses, so that other tools' words can be put for ours one by one.
PROPERTIES = {
    "AbsentAQ": "(O[0,{u}] q) -> ((!p) S q)",
    "AbsentBR": "r -> (H[0,{u}] (!p))",
    "AbsentBQR": "(r & (!q) & (O q)) -> ((!p) S[{l},{u}] q)",
    "AlwaysAQ": "(O[0,{u}] q) -> (p S q)",
    "AlwaysBR": "r -> (H[0,{u}] p)",
    "AlwaysBQR": "(r & (!q) & (O q)) -> (p S[{l},{u}] q)",
    "RecurGLB": "O[0,{u}] p",
    "RecurBQR": "(r & (!q) & (O q)) -> ((O[0,{u}] (p | q)) S q)",
    "RespondGLB": "(s -> (O[{l},{u}] p)) & (!((!s) S[{u},inf) p))",
    "RespondBQR": "(r & (!q) & (O q)) -> (((s -> (O[{l},{u}] p)) & (!((!s) S[{u},inf) p))) S q)",
}


def lower(u):
    return 3 * u // 10


def formula(name, u):
    """The property in Tracewise's words, without the G around it."""
    return PROPERTIES[name].format(u=u, l=lower(u))


def columns(name, rows, u, violate=False, seed=1):
    """The columns p, q, r, s as bytearrays; time is the number of the row."""
    rng = random.Random(seed)
    l = lower(u)
    p, q, r, s = (bytearray(rows) for _ in range(4))

    def put(column, at):
        if 0 <= at < rows:
            column[at] = 1

    def some(low, high):
        return rng.randint(low, max(low, high))

    shape = name[:-2] if name.endswith(("AQ", "BR")) else name[:-3]
    now = 0
    while now < rows:
        answer = now + some(l + 1, u - 1)
        if shape in ("Absent", "Always"):
            # A phase from q to r of l to u rows; p elsewhere, or within.
            put(q, now)
            put(r, answer)
            if name.startswith("Absent"):
                put(p, now + u + 1 + some(0, u))
                now += 4 * u + some(0, u)
            else:
                for at in range(max(now - u - 2, 0), min(now + u + 2, rows)):
                    p[at] = 1
                now += 4 * u + some(0, u)
        elif shape == "Recur":
            put(p, now)
            if rng.random() < 0.125:
                put(q, now + 1)
                put(r, answer + 2 * u)
            now = answer
        else:
            put(p, now)
            put(s, answer)
            if rng.random() < 0.25:
                put(q, now)
                put(r, answer + 1)
            now += u + 1 + some(0, u)
    if violate:
        spoil(name, u, p, q, r, s)
    return p, q, r, s


def spoil(name, u, p, q, r, s):
    """Makes the last row violate the property."""
    l, last = lower(u), len(p) - 1
    if name.startswith(("Absent", "Always")):
        absent = name.startswith("Absent")
        # A quiet stretch, in which only what follows happens.
        for at in range(max(0, last - 2 * u), last + 1):
            q[at] = r[at] = 0
            p[at] = not absent
        if name.endswith("AQ"):
            q[last - 2] = 1
            p[last] = absent
        else:
            q[max(0, last - l - 1)] = name.endswith("BQR")
            r[last] = 1
            p[last - 1] = absent
    elif name == "RecurGLB":
        for at in range(last - u, last + 1):
            p[at] = 0
    elif name == "RecurBQR":
        for at in range(last - u - 1, last + 1):
            p[at] = q[at] = r[at] = 0
        q[last - u - 1] = r[last] = 1
    else:
        # The request before is answered in time, this one is not.
        answered = max(at for at in range(last - u - 1) if s[at])
        for at in range(answered + 1, last + 1):
            p[at] = q[at] = r[at] = s[at] = 0
        p[last - u] = 1
        if name == "RespondBQR":
            q[last - u - 1] = r[last] = 1


TRUTH = (b"false", b"true")


def rows_of(columns):
    """One JSON object per row, as bytes."""
    for time, values in enumerate(zip(*columns)):
        yield b'{"time":%d,"p":%b,"q":%b,"r":%b,"s":%b}\n' % (time, *(TRUTH[value] for value in values))


def write(path, name, rows, u, violate, seed=1):
    with open(path, "wb", buffering=1 << 20) as file:
        file.writelines(rows_of(columns(name, rows, u, violate, seed)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("property", nargs="?", choices=list(PROPERTIES))
    parser.add_argument("--bound", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--violate", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name in PROPERTIES:
            print(f"property {name} : G ({formula(name, options.bound)});")
        return
    if not options.property or options.bound < 4 or options.rows < 5 * options.bound:
        parser.error("name a property, a bound of at least 4, and at least five bounds of rows")
    sys.stdout.buffer.writelines(rows_of(columns(options.property, options.rows, options.bound, options.violate, options.seed)))


if __name__ == "__main__":
    main()
