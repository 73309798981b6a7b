#!/usr/bin/env python3
"""Truth beside Reelay's: random past MTL, written for Reelay, imported, and compared at every row.

    bench/agree_reelay.py [--traces 40] [--dense 10] [--formulas 25] [--seed 1] [--tracewise PATH]

Reelay monitors each formula in discrete time, row by row, in this process; `tracewise import` reads the same text, and one
`tracewise check` tells every row where one of the formulas of a trace is false. On the `--dense` traces, rows are some time
apart and last until the next; `tracewise eval --clock dense` tells the truth at their timestamps. Reelay is installed
with pip into bench/data/venv if need be. Exits with 1 on any disagreement.

What is left out, and why (Reelay 25.0.0):
  - An upper bound of 0, as in `once[0:0]{p}`: Reelay takes it for no bound at all, so `import` refuses it.
  - Bounds with a fraction: their fraction is dropped in discrete time; refused.
  - `a -> b -> c`, `a since b since c`: Reelay reads `a -> b` and drops the rest without a word; refused.
  - Rows that lack a key: Reelay keeps the value of the row before, here there is none.
  - Condensed rows (`condense=True`): a row describes the time up to it there, and the instant itself here.
  - `since` in dense time: with q from 1 to 3 and p from 3 to 7, Reelay says that `{p} since {q}` holds from 3 to 7 alone. By
    definition it holds from 1 to 3, where q does, and not later: there is no last instant with q after which p holds.
  - `pre` in dense time, where no instant is the one before.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from pathlib import Path

import peers
from run import TRACEWISE

peers.within("reelay")
import reelay  # noqa: E402

ATOMS = ["{p}", "{q}", "{p: true}", "{q: false}", "{r: true, p: false}", "{p, x > 0}", "{x: 2}", "{x >= -1.5}",
         "{x < 0.25}", "{x <= 2}", "{x != 1}", "{x == -3}", "{mode: sport}", '{mode: "eco plus"}', "{mode: 'sport', q}"]
PREFIX = ["not ", "!", "pre", "Y ", "once", "P", "historically", "H"]
INFIX = ["and", "&&", "or", "||", "->", "implies", "since", "S"]


def bounds(rng):
    low, high = rng.randrange(5), rng.choice([1, 2, 3, 5, 9, 70])
    return rng.choice(["", "", f"[{low}:{low + high}]", f"[:{high}]", f"[{low}:]", f"[{low}:inf]", f" [{low}:{low + high}] "])


def operand(rng, depth):
    """What a prefix operator takes: an atom, or anything in parentheses."""
    return rng.choice(ATOMS) if depth == 0 else f"({formula(rng, depth)})"


def dense_formula(rng, depth):
    """Without what is left out, and without `==` and `!=`, which Reelay does not know in dense time."""
    if depth == 0:
        return rng.choice([atom for atom in ATOMS if "=" not in atom or "<=" in atom or ">=" in atom])
    left = dense_formula(rng, depth - 1)
    if rng.random() < 0.6:
        return f"{rng.choice(['not ', 'once', 'P', 'historically', 'H'])}({left})".replace(
            "e(", f"e{bounds(rng)}(", 1).replace("y(", f"y{bounds(rng)}(", 1)
    return f"({left}) {rng.choice(['and', 'or', '->'])} ({dense_formula(rng, depth - 1)})"


def formula(rng, depth):
    """Now and then parentheses are left out, so that precedences are compared, too."""
    draw = rng.random()
    if depth == 0 or draw < 0.1:
        return rng.choice(ATOMS)
    if draw < 0.5:
        operator = rng.choice(PREFIX)
        between = bounds(rng) if operator[0] in "oPhH" else ""
        return f"{operator}{between}{operand(rng, rng.randrange(depth))}"
    if draw < 0.65:
        # Looser operators outside, tighter ones inside, none of them in parentheses.
        either = f" {rng.choice(['or', '||'])} ".join(
            f" {rng.choice(['and', '&&'])} ".join(operand(rng, rng.randrange(depth)) for _ in range(rng.randint(1, 3)))
            for _ in range(rng.randint(1, 2)))
        return f"{either} -> {operand(rng, 0)} S{bounds(rng)} {operand(rng, 0)}" if rng.random() < 0.5 else either
    operator = rng.choice(INFIX)
    between = bounds(rng) if operator in ("since", "S") else ""
    return f"{operand(rng, rng.randrange(depth))} {operator}{between} {operand(rng, rng.randrange(depth))}"


def rows(rng, count):
    """Rows in which values stay for a while, so that long windows see something."""
    row, made, change = {"p": False, "q": False, "r": False, "x": 0, "mode": "sport"}, [], rng.choice([0.1, 0.3, 0.7])
    for _ in range(count):
        row = dict(row)
        for name in "pqr":
            if rng.random() < change:
                row[name] = rng.random() < 0.5
        if rng.random() < change:
            row["x"] = rng.choice([-3, -1.5, 0, 0.25, 1, 2, 2.5])
        if rng.random() < change:
            row["mode"] = rng.choice(["sport", "eco plus", "off"])
        made.append(row)
    return made


def ours(command, where, texts, count):
    """Truth of each formula at each row: what is imported is `G f`, which is violated exactly where f is false."""
    parts = []
    for number, text in enumerate(texts):
        file = where / f"f{number}.rye"
        file.write_text(text)
        parts.append(peers.run([command, "import", file]))
    (where / "spec.tw").write_text("\n".join(parts))
    values = peers.truths(command, where, count)
    return [values[f"f{number}"] for number in range(len(texts))]


def ours_dense(command, where, texts):
    """Truth of each formula at each timestamp."""
    values = []
    for text in texts:
        (where / "f.rye").write_text(text)
        made = peers.run([command, "import", where / "f.rye"])
        body = re.search(r"(?s)property f :\s+G(.*);", made).group(1)
        found = peers.run([command, "eval", "--clock", "dense", "-e", " ".join(body.split()), where / "trace.jsonl",
                           "--output", "json"])
        values.append([json.loads(line)["value"] for line in found.splitlines()])
    return values


def theirs_dense(text, made):
    """The same: Reelay tells when its verdict changes, and knows of a row when the next one comes."""
    monitor, changes = reelay.dense_timed_monitor(text), []
    for row in [*made, {**made[-1], "time": made[-1]["time"] + 1}]:
        changes += monitor.update(row)
    value, at, values = None, 0, []
    for row in made:
        while at < len(changes) and changes[at]["time"] <= row["time"]:
            value, at = changes[at]["value"], at + 1
        values.append(value)
    return values


def theirs(text, made):
    monitor = reelay.discrete_timed_monitor(text, condense=False)
    return [monitor.update(row)["value"] for row in made]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=40)
    parser.add_argument("--dense", type=int, default=10)
    parser.add_argument("--formulas", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tracewise", type=Path, default=TRACEWISE)
    options = parser.parse_args()
    rng, command = random.Random(options.seed), options.tracewise.resolve()
    formulas = values = true = different = 0
    for number in range(options.traces + options.dense):
        dense = number >= options.traces
        made = rows(rng, rng.choice([2, 5, 20, 60] if dense else [1, 2, 5, 20, 60, 150]))
        write = dense_formula if dense else formula
        texts = [write(rng, rng.randint(1, 4)) for _ in range(options.formulas)]
        if dense:
            time = 0
            for row in made:
                row["time"] = time
                time += rng.choice([1, 1, 2, 3, 7])
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            (where / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
            found = ours_dense(command, where, texts) if dense else ours(command, where, texts, len(made))
        for text, ours_is in zip(texts, found):
            theirs_is = theirs_dense(text, made) if dense else theirs(text, made)
            formulas += 1
            values += len(made)
            true += sum(theirs_is)
            if ours_is != theirs_is:
                different += 1
                row = next(row for row in range(len(made)) if ours_is[row] != theirs_is[row])
                print(f"trace {number}, row {row}: {text}\n  Reelay says {theirs_is[row]}, tracewise {ours_is[row]}")
    print(f"{formulas} formulas on {options.traces} traces and {options.dense} in dense time, {values} values ({true} of them true): "
          f"{different} formulas with a disagreement")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
