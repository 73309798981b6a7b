#!/usr/bin/env python3
"""Truth beside R2U2's: random MLTL, written in C2PO, imported, and compared wherever R2U2 gives a verdict.

    bench/agree_r2u2.py [--specs 60] [--formulas 8] [--seed 1] [--r2u2 PATH] [--tracewise PATH]

Each specification is one `.c2po` file, of the future or of the past, and a random trace. R2U2 compiles and runs it;
`tracewise import` reads the same file, and one `tracewise check` tells every row where a formula is false. R2U2 is
installed with cargo into bench/data/r2u2 if need be. Exits with 1 on any disagreement.

At the end of a trace R2U2 keeps silent about what later rows could change; those rows are counted, not compared.

What is left out, and why (R2U2 4.2.4):
  - `S` and `T`: after its left side was false, R2U2 goes on from the last time that the right side was true. Of
    `p S[0,6] q` on the rows q; neither; neither; p it says that the last one satisfies it, though p fails between.
  - Connectives between temporal operators that look differently far: of `H[0,2] (O[0,4] (x >= 1)) || H[0,2] (y >= 0)` on
    the rows (0, 0), (2, -1), (1, 0) R2U2 says that the last one satisfies it, and of each side alone that it does not.
  - `true` and `false`: formulas of the past that they turn into a constant do not compile.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import peers
from run import TRACEWISE

HEAD = "INPUT\n    p, q, r: bool;\n    x: int;\n    y: float;\nDEFINE\n    both := p && q;\n"
ATOMS = ["p", "q", "r", "both", "x > 0", "x + 1 <= 2 * x", "y >= -0.5", "x == 1", "abs(x) != 2", "y - 0.25 < y * y"]


def bounds(rng):
    low, length = rng.randrange(4), rng.randrange(6)
    return rng.choice([f"[{low},{low + length}]", f"[{low},{low + length}]", f"[{length}]"])


def state(rng, depth):
    """About one row. Now and then parentheses are left out, so that precedences are compared, too."""
    if depth == 0 or rng.random() < 0.2:
        text = rng.choice(ATOMS)
    elif rng.random() < 0.2:
        return f"!({state(rng, depth - 1)})"
    else:
        text = f"{state(rng, depth - 1)} {rng.choice(['&&', '||', '->', '<->', 'xor'])} {state(rng, depth - 1)}"
    return f"({text})" if rng.random() < 0.6 else text


def formula(rng, depth, past):
    """Temporal operators, one inside the other."""
    if depth == 0:
        return f"({state(rng, 2)})"
    if not past and rng.random() < 0.3:
        return f"({state(rng, 2)}) {rng.choice('UR')}{bounds(rng)} ({state(rng, 2)})"
    negation = "!" if rng.random() < 0.2 else ""
    return f"{negation}({rng.choice('HO' if past else 'GF')}{bounds(rng)} {formula(rng, depth - 1, past)})"


def rows(rng, count):
    return [{"p": rng.randrange(2), "q": rng.randrange(2), "r": int(rng.random() < 0.8), "x": rng.randint(-2, 3),
             "y": rng.randint(-4, 4) / 4} for _ in range(count)]


def theirs(r2u2, where, count, formulas):
    """Verdicts of each formula at each row; `None` where there is none. One line stands for all rows since the last."""
    done = subprocess.run([r2u2, "run", where / "spec.c2po", where / "trace.csv"], cwd=where, capture_output=True, text=True)
    if done.returncode or "failed" in done.stdout:
        sys.exit(f"R2U2 failed:\n{done.stdout}{done.stderr}")
    values, at = [[None] * count for _ in range(formulas)], [0] * formulas
    for number, time, truth in re.findall(r"(?m)^(\d+):(\d+),([TF])$", done.stdout):
        number, time = int(number), int(time)
        for row in range(at[number], min(time + 1, count)):
            values[number][row] = truth == "T"
        at[number] = max(at[number], time + 1)
    return values


def ours(command, where, names, count, past):
    """Truth at each row: `G f` is violated exactly where f is false."""
    made = peers.run([command, "import", where / "spec.c2po"])
    if not past:
        # What is imported is about the first row.
        made = re.sub(r"(?m)^property (\S+) :", r"let of_\1 =", made)
        made += "".join(f"property {name} : G of_{name};\n" for name in names)
    (where / "spec.tw").write_text(made)
    values = peers.truths(command, where, count)
    return [values[name] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--specs", type=int, default=60)
    parser.add_argument("--formulas", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--r2u2", type=Path)
    parser.add_argument("--tracewise", type=Path, default=TRACEWISE)
    options = parser.parse_args()
    options.r2u2 = options.r2u2 or peers.r2u2()
    rng, command = random.Random(options.seed), options.tracewise.resolve()
    formulas = values = true = silent = different = 0
    for number in range(options.specs):
        past = rng.random() < 0.5
        names = [f"f{index}" for index in range(options.formulas)]
        texts = [formula(rng, rng.randint(1, 3), past) for _ in names]
        made = rows(rng, rng.choice([5, 20, 60]))
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            section = "".join(f"    {name}: {text};\n" for name, text in zip(names, texts))
            (where / "spec.c2po").write_text(f"{HEAD}{'PTSPEC' if past else 'FTSPEC'}\n{section}")
            (where / "trace.csv").write_text("# p,q,r,x,y\n" + "".join(
                ",".join(str(value) for value in row.values()) + "\n" for row in made))
            (where / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
            judged = theirs(options.r2u2.resolve(), where, len(made), len(names))
            found = ours(command, where, names, len(made), past)
        for text, ours_is, theirs_is in zip(texts, found, judged):
            formulas += 1
            silent += sum(value is None for value in theirs_is)
            values += sum(value is not None for value in theirs_is)
            true += sum(value is True for value in theirs_is)
            wrong = [row for row, value in enumerate(theirs_is) if value is not None and value != ours_is[row]]
            if wrong:
                different += 1
                row = wrong[0]
                print(f"spec {number}, row {row}: {text}\n  R2U2 says {theirs_is[row]}, tracewise {ours_is[row]}; trace {made}")
    print(f"{formulas} formulas on {options.specs} traces, {values} verdicts ({true} of them true; {silent} rows without): "
          f"{different} formulas with a disagreement")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
