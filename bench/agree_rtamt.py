#!/usr/bin/env python3
"""Robustness beside RTAMT's: random STL, written for RTAMT, imported, and compared at every sample, bit by bit.

    bench/agree_rtamt.py [--specs 50] [--formulas 20] [--seed 1] [--tracewise PATH]

Each specification is one text with so many formulas and a random trace. RTAMT evaluates it offline in discrete time, in this
process; `tracewise import` reads the same text, and `tracewise robust --at all` runs the result. RTAMT is installed
with pip into bench/data/venv if need be. Exits with 1 on any disagreement.

What is left out, and why (RTAMT 0.4.10):
  - `a iff b`, `a xor b`: worth -|a - b| and |a - b| there, which `import` refuses.
  - `sqrt`, `exp`, `pow`: no counterpart, refused.
  - `a unless b` without bounds: RTAMT ends with an exception.
  - A bare signal under a bounded `always` or `eventually`: where the bound goes beyond the trace, RTAMT lengthens the
    list of samples itself, and what reads the signal next fails or sees samples that are not there. For instance
    `always[0:5](x) and x >= 0` on three samples.
  - A minus sign between operands outside parentheses: `x >= y - 1` might end before the minus, and RTAMT raises an
    exception.
  - A trace of one sample: RTAMT ends with an exception.
  - Division by something that may be 0: an exception there, no value here.
  - Online monitoring: values are wrong there where operands of `->` and `or` look ahead differently far.
"""

import argparse
import json
import logging
import math
import random
import sys
import tempfile
from pathlib import Path

import peers
from run import TRACEWISE

peers.within("rtamt")
import rtamt  # noqa: E402

SIGNALS = ["x", "y", "z"]
PREFIX = ["not", "!", "always", "G", "eventually", "F", "historically", "H", "once", "O",
          "prev", "Y", "next", "X", "s_prev", "sY", "s_next", "sX"]
TIMED = {"always", "G", "eventually", "F", "historically", "H", "once", "O"}
INFIX = ["and", "&", "or", "|", "implies", "->", "until", "U", "since", "S", "unless"]


class Writer:
    """Writes random formulas; now and then parentheses are left out, so that precedences are compared, too."""

    def __init__(self, rng, period):
        self.rng, self.period, self.defined = rng, period, []

    def bounds(self):
        """In samples, written with or without units; the longest go beyond the trace."""
        low, length = self.rng.randrange(4), self.rng.choice([0, 1, 2, 3, 5, 8, 40])
        low, high = low * self.period, (low + length) * self.period  # milliseconds
        comma = self.rng.choice([":", ",", " : "])
        return self.rng.choice([
            f"[{low / 1000:g}{comma}{high / 1000:g}]",
            f"[{low}ms{comma}{high}ms]",
            f"[{low / 1000:g}s{comma}{high} ms]",
            f"[{low / 1000:g}{comma}{high / 1000:g}s]",
        ])

    def term(self, depth):
        draw = self.rng.random()
        if depth == 0 or draw < 0.4:
            number = self.rng.choice(["0", "1", "2.5", "-1", "0.1", "-0.75", "1e-1", ".5"])
            return self.rng.choice(SIGNALS) if self.rng.random() < 0.7 else number
        if draw < 0.5:
            return f"abs({self.term(depth - 1)})"
        if draw < 0.6:
            # `a / 4 * 0.3` is `a / (4 * 0.3)` there.
            return f"({self.term(depth - 1)} / {self.rng.choice(['2', '4 * 0.3', '3'])})"
        operator = self.rng.choice("+-*")
        text = f"{self.term(depth - 1)} {operator} {self.term(depth - 1)}"
        return f"({text})" if operator == "-" or self.rng.random() < 0.4 else text

    def atom(self):
        if self.rng.random() < 0.1:
            return f"({self.rng.choice(SIGNALS)} {self.rng.choice('+-')} {self.term(1)})"
        compare = self.rng.choice(["<", "<=", ">", ">=", "==", "!=="])
        return f"{self.term(2)} {compare} {self.term(2)}"

    def formula(self, depth):
        draw = self.rng.random()
        if self.defined and draw < 0.08:
            return self.rng.choice(self.defined)
        if depth == 0 or draw < 0.12:
            text = self.atom()
        elif draw < 0.2:
            body = self.rng.choice(SIGNALS) if self.rng.random() < 0.2 else self.formula(depth - 1)
            return f"{self.rng.choice(['rise', 'fall'])}({body})"
        elif draw < 0.6:
            operator = self.rng.choice(PREFIX)
            timed = operator in TIMED and self.rng.random() < 0.75
            text = f"{operator}{self.bounds() if timed else ''} {self.formula(depth - 1)}"
        else:
            operator = self.rng.choice(INFIX)
            bounds = ""
            if operator == "unless":
                bounds = f"[0:{self.rng.randrange(6) * self.period}ms]"
            elif operator in ("until", "U", "since", "S") and self.rng.random() < 0.6:
                bounds = self.bounds()
            text = f"{self.formula(depth - 1)} {operator}{bounds} {self.formula(depth - 1)}"
        return f"({text})" if self.rng.random() < 0.7 else text


def theirs(text, period, trace):
    """Values of each formula `f…` at every sample."""
    spec = rtamt.StlDiscreteTimeSpecification()
    for name in SIGNALS:
        spec.declare_var(name, "float")
    spec.set_sampling_period(period, "ms", 0.1)
    spec.spec = text
    spec.parse()
    length = len(trace["time"])
    last = [value for _, value in spec.evaluate({name: list(column) for name, column in trace.items()})]
    values = [spec.ast.offline_results[node][:length] for node in spec.ast.specs]
    assert values[-1] == last, "the last formula is what RTAMT answers"
    return values


def number(value):
    return float(value) if isinstance(value, str) else value


def ours(command, where, names, rows):
    found = peers.run([command, "robust", where / "spec.tw", where / "trace.jsonl", "--at", "all", "--clock", "index",
                       "--output", "json"])
    values = {}
    for line in found.splitlines():
        answer = json.loads(line)
        # A property alone is not named.
        column = values.setdefault(answer.get("property", names[0]), [None] * rows)
        column[answer["position"]] = number(answer["robustness"])
    missing = [name for name in names if name not in values]
    if missing:
        sys.exit(f"no values of {', '.join(missing)}")
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--specs", type=int, default=50)
    parser.add_argument("--formulas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tracewise", type=Path, default=TRACEWISE)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rng, command = random.Random(options.seed), options.tracewise.resolve()
    formulas = values = infinite = different = 0
    for number_of in range(options.specs):
        period = rng.choice([1000, 1000, 100, 250])
        writer, lines, names = Writer(rng, period), [], []
        for index in range(options.formulas):
            # What later formulas refer to comes as a formula of its own.
            if rng.random() < 0.2:
                name = f"part{index}"
                lines.append(f"{name} = {writer.formula(2)}")
                writer.defined.append(name)
            names.append(f"f{index}")
            lines.append(f"f{index} = {writer.formula(rng.randint(1, 4))}")
        text, rows = "\n".join(lines), rng.choice([2, 3, 7, 20, 50])
        grid = rng.random() < 0.5
        trace = {"time": [index * period / 1000 for index in range(rows)]}
        for name in SIGNALS:
            trace[name] = [rng.randint(-8, 8) / 4 if grid else rng.uniform(-3, 3) for _ in range(rows)]
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            (where / "spec.stl").write_text(text)
            (where / "trace.jsonl").write_text("".join(
                json.dumps({name: column[row] for name, column in trace.items()}) + "\n" for row in range(rows)))
            peers.run([command, "import", where / "spec.stl", "--from", "rtamt", "--period", f"{period}ms",
                       "-o", where / "spec.tw"])
            found = ours(command, where, names, rows)
        judged = dict(zip([line.split(" = ")[0] for line in lines], theirs(text, period, trace)))
        for name, line in ((line.split(" = ")[0], line) for line in lines):
            if name not in found:
                continue
            formulas += 1
            for row in range(rows):
                values += 1
                infinite += math.isinf(judged[name][row])
                if found[name][row] != judged[name][row]:
                    different += 1
                    print(f"spec {number_of}, sample {row}: {line}\n"
                          f"  RTAMT says {judged[name][row]!r}, tracewise {found[name][row]!r}")
                    break
    print(f"{formulas} formulas on {options.specs} traces, {values} values ({infinite} of them infinite): "
          f"{different} formulas with a disagreement")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
