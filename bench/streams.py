#!/usr/bin/env python3
"""Streams beside RTLola's interpreter: the same values, and how long they take.

    bench/streams.py [--rows 1000000] [--peer-rows 200000] [--repeat 3] [--random 50] [--binary target/release/tracewise]

Ten real-valued streams with offsets and conditions are written in RTLola's language, imported with `tracewise import`, and run
by both on the same CSV. Every value is compared, and so are those of random specifications (`--random`). Then both are
timed in the same way of working: nothing told (`--verbosity silent`; `--quiet`), triggers alone (`--verbosity violations`, which
tells each; `check` as JSON, which tells their number and the first ten, or all), every value as CSV. CPU time and wall clock of
the best run, less those of a run over a hundredth of the rows; runs of the two alternate. RTLola's interpreter is installed with cargo into bench/data/rtlola; `--peer PROGRAM`
names another copy.
"""

import argparse
import csv
import io
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
ROOT = Path(__file__).resolve().parent.parent

TEN = """import math
constant limit: Float64 := 60.0
input level: Float64, flow: Float64, valve: Bool
output smooth := 0.9 * smooth.offset(by: -1).defaults(to: 0.0) + 0.1 * level
output change := level - level.offset(by: -1).defaults(to: 0.0)
output steep := abs(change)
output open := if valve then open.offset(by: -1).defaults(to: 0.0) + 1.0 else 0.0
output volume := volume.offset(by: -1).defaults(to: 0.0) + flow
output peak := if level > peak.offset(by: -1).defaults(to: 0.0) then level else peak.offset(by: -1).defaults(to: 0.0) * 0.999
output gap := peak - smooth
output mean := (level + level.offset(by: -1).defaults(to: 0.0) + level.offset(by: -2).defaults(to: 0.0)) / 3.0
output ratio := if flow > 0.0 then level / flow else 0.0
output score := 0.5 * gap + 0.3 * steep + 0.2 * open
trigger smooth > limit && open > 3.0 "nearly full"
"""


def peer(named):
    program = Path(named) if named else DATA / "rtlola" / "bin" / "rtlola-cli"
    if not program.exists():
        subprocess.run(["cargo", "install", "-q", "rtlola-cli", "--root", DATA / "rtlola"], check=True)
    return program


def rows(path, count):
    dice, level = random.Random(7), 50.0
    with open(path, "w") as file:
        file.write("time,level,flow,valve\n")
        for row in range(count):
            level = min(100, max(0, level + dice.random() * 4 - 2))
            valve = "true" if dice.random() < 0.7 else "false"
            file.write(f"{row / 10},{level:.3f},{dice.random() * 5:.3f},{valve}\n")


def run(command, fine=(0,)):
    """CPU seconds, seconds by the clock, and standard output."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.PIPE)
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        took = time.monotonic() - began
        if os.waitstatus_to_exitcode(status) not in fine:
            sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{errors.decode()}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, took, out.read().decode()


def theirs(program, spec, trace, *options):
    return [program, "monitor", spec, "--csv-in", trace, "--offline", "relative", *options]


def value(text):
    if text in ("true", "false", "", "#"):
        return text
    return float(text)


def agree(binary, program, text, table, where):
    """Values that were compared; the programs end where two differ."""
    spec, trace, made = where / "s.lola", where / "t.csv", where / "s.tw"
    spec.write_text(text)
    trace.write_text(table)
    run([binary, "import", spec, "-o", made])
    _, _, own = run([binary, "stream", "run", made, trace, "--output", "csv"])
    _, _, other = run(theirs(program, spec, trace, "--verbosity", "outputs", "--output-format", "csv"))
    own, other = list(csv.DictReader(io.StringIO(own))), list(csv.DictReader(io.StringIO(other)))
    if len(own) != len(other):
        sys.exit(f"{len(own)} rows here, {len(other)} there:\n{text}")
    names = [name for name in own[0] if name != "position"]
    for ours, their in zip(own, other):
        for name in names:
            if value(ours[name]) != value(their[name]):
                sys.exit(f"`{name}` at {ours['position']}: {ours[name]} here, {their[name]} there:\n{text}")
    return len(own) * len(names)


def equations(dice):
    """Random streams over three inputs, each of a type of its own."""
    names = {"Int64": ["i"], "Float64": ["x"], "Bool": ["p"]}
    zero = {"Int64": "0", "Float64": "0.5", "Bool": "false"}

    def expression(ty, depth):
        def inner(ty):
            return expression(ty, depth - 1)
        if depth == 0 or dice.random() < 0.2:
            name = dice.choice(names[ty])
            way = dice.randrange(4)
            back = dice.randrange(1, 4)
            if way == 0:
                return f"{name}.offset(by: -{back}).defaults(to: {zero[ty]})"
            if way == 1:
                return f"{name}.last(or: {zero[ty]})"
            if way == 2:
                return {"Int64": str(dice.randrange(5)), "Float64": f"{dice.randrange(9) / 4}", "Bool": "true"}[ty]
            return name
        if dice.random() < 0.2:
            return f"(if {inner('Bool')} then {inner(ty)} else {inner(ty)})"
        if ty == "Bool":
            if dice.random() < 0.4:
                side = dice.choice(["Int64", "Float64"])
                return f"{inner(side)} {dice.choice(['<', '<=', '>', '>=', '==', '!='])} {inner(side)}"
            return dice.choice([f"!({inner(ty)})", f"({inner(ty)}) && ({inner(ty)})", f"({inner(ty)}) || ({inner(ty)})"])
        # Products of whole numbers would leave 64 bits.
        operators = "+-" if ty == "Int64" else "+-*"
        left, right = inner(ty), inner(ty)
        return f"({left} {dice.choice(operators)} {right})"

    lines = ["input i: Int64, x: Float64, p: Bool"]
    for number in range(dice.randrange(1, 6)):
        ty = dice.choice(list(names))
        name = f"o{number}"
        own = f"if {name}.last(or: {zero[ty]}) {'' if ty == 'Bool' else '> ' + zero[ty]} then {expression(ty, 2)} else {expression(ty, 2)}"
        body = own if dice.random() < 0.3 else expression(ty, 3)
        # A stream of constants alone would have no events of its own there.
        lines.append(f"output {name}: {ty} @(i && x && p) := {body}")
        names[ty].append(name)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peer-rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--random", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "tracewise")
    parser.add_argument("--peer")
    options = parser.parse_args()
    program = peer(options.peer)
    print(f"load {os.getloadavg()[0]:.2f}\n")
    with tempfile.TemporaryDirectory() as place:
        where = Path(place)
        sample = where / "sample.csv"
        rows(sample, 5000)
        compared = agree(options.binary, program, TEN, sample.read_text(), where)
        print(f"ten streams: {compared:,} values equal")
        dice, compared = random.Random(options.seed), 0
        for _ in range(options.random):
            table = "time,i,x,p\n" + "".join(
                f"{row},{dice.randrange(-3, 4)},{dice.randrange(-8, 9) / 4},{dice.choice(['true', 'false'])}\n"
                for row in range(40))
            compared += agree(options.binary, program, equations(dice), table, where)
        print(f"{options.random} random specifications: {compared:,} values equal\n")
        spec, made = where / "ten.lola", where / "ten.tw"
        spec.write_text(TEN)
        run([options.binary, "import", spec, "-o", made])

        def trace(rows_of):
            path = where / f"t-{rows_of}.csv"
            if not path.exists():
                rows(path, rows_of)
            return path

        def cost(count, commands):
            """Of each, nanoseconds a row of CPU and by the clock, starting up left out."""
            best = {}
            for _ in range(options.repeat):
                for name, command in commands.items():
                    for part in (count[name], count[name] // 100):
                        # A violated property is told by the exit code.
                        found = run(command(trace(part)), fine=(0, 1))[:2]
                        before = best.get((name, part), found)
                        best[name, part] = tuple(map(min, before, found))
            def each(name, which):
                whole, part = best[name, count[name]][which], best[name, count[name] // 100][which]
                return (whole - part) / (count[name] - count[name] // 100) * 1e9
            return {name: (each(name, 0), each(name, 1)) for name in commands}

        own = [options.binary, "stream", "run", made]
        ways = {
            "nothing told": (["--verbosity", "silent"], lambda trace: own + [trace, "--quiet"]),
            "triggers, the first ten with their lines": (
                ["--verbosity", "violations"],
                lambda trace: [options.binary, "check", made, trace, "--output", "json"],
            ),
            "every trigger": (
                ["--verbosity", "violations"],
                lambda trace: [options.binary, "check", made, trace, "--violations", "all", "--output", "json"],
            ),
            "every value as CSV": (
                ["--verbosity", "outputs", "--output-format", "csv"],
                lambda trace: own + [trace, "--output", "csv"],
            ),
            "live, nothing told": (["--verbosity", "silent"], lambda trace: own + [trace, "--live", "--quiet"]),
        }
        print("| ten real-valued streams, CSV in | RTLola's interpreter | tracewise | times as fast |")
        print("|---|---:|---:|---:|")
        for name, (more, command) in ways.items():
            took = cost(
                {"theirs": options.peer_rows, "own": options.rows},
                {"theirs": lambda trace: theirs(program, spec, trace, *more), "own": command},
            )
            (slow, slow_wall), (quick, wall) = took["theirs"], took["own"]
            print(f"| {name}, ns of CPU a row | {slow:,.0f} | {quick:,.0f} | {slow / quick:.1f} |")
            print(f"| {name}, ns by the clock | {slow_wall:,.0f} | {wall:,.0f} | {slow_wall / wall:.1f} |", flush=True)
        print(f"\nload {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
