#!/usr/bin/env python3
"""Imports random properties of DejaVu and compares at which events they are violated with what DejaVu's definition says.

    bench/agree_dejavu.py BINARY [--rounds 200] [--seed 1]

DejaVu itself needs a Java machine, so that its definition is run here, naively: `forall` and `exists` range over values that
the variable's patterns have matched, `Forall` and `Exists` over all, of which one that never occurs stands for the rest;
comparisons hold of values that were matched alone. Properties whose import is refused are counted, and have to be of the kind that is
refused. Stops at the first disagreement, with its seed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

EVENTS = {"p": 1, "q": 2, "e": 0}
VALUES = [0, 1, 2]
NEVER = 99
REFUSED = ["is compared where no event", "is compared at a time when no event", "occurs in no event"]


class Maker:
    """Random closed properties: a tree, in which each variable has a name of its own."""

    def __init__(self, dice):
        self.dice, self.count = dice, 0

    def formula(self, depth, scope):
        dice = self.dice
        kinds = ["event"] * 3 + ["compare"] * bool(scope)
        if depth:
            kinds += ["not", "@", "P", "H", "&", "|", "->", "<->", "S", "stretch", "quantifier", "quantifier"]
        kind = dice.choice(kinds)
        down = lambda: self.formula(depth - 1, scope)
        if kind == "event":
            name = dice.choice(list(EVENTS))
            term = lambda: dice.choice(scope) if scope and dice.random() < 0.85 else dice.choice(VALUES)
            return ("event", name, [term() for _ in range(EVENTS[name])])
        if kind == "compare":
            right = dice.choice(scope) if dice.random() < 0.5 else dice.choice(VALUES)
            return ("compare", dice.choice(["<", "<=", ">", ">=", "="]), dice.choice(scope), right)
        if kind == "quantifier":
            self.count += 1
            variable = f"x{self.count}"
            word = dice.choice(["Forall", "Exists", "forall", "exists"])
            body = self.formula(depth - 1, scope + [variable])
            return ("quantifier", word, variable, body)
        if kind in ("not", "@"):
            return (kind, down())
        if kind in ("P", "H", "S"):
            limit = dice.choice([None, ("<=", dice.randrange(4)), (">", dice.randrange(4))])
            return (kind, limit, down()) if kind != "S" else (kind, limit, down(), down())
        return (kind, down(), down())


def text(node):
    kind = node[0]
    limit = lambda limit: f"[{limit[0]}{limit[1]}]" if limit else ""
    if kind == "event":
        return node[1] + (f"({','.join(map(str, node[2]))})" if node[2] else "")
    if kind == "compare":
        return f"{node[2]} {node[1]} {node[3]}"
    if kind == "quantifier":
        return f"({node[1]} {node[2]} . {text(node[3])})"
    if kind in ("not", "@"):
        return f"{'!' if kind == 'not' else '@'} ({text(node[1])})"
    if kind in ("P", "H"):
        return f"{kind}{limit(node[1])} ({text(node[2])})"
    if kind == "S":
        return f"(({text(node[2])}) S{limit(node[1])} ({text(node[3])}))"
    if kind == "stretch":
        return f"[{text(node[1])}, {text(node[2])})"
    return f"(({text(node[1])}) {kind} ({text(node[2])}))"


def nodes(node):
    yield node
    for part in node[1:]:
        if isinstance(part, tuple) and part and part[0] not in ("<=", ">"):
            yield from nodes(part)


class Definition:
    """What DejaVu's operators mean, on one log."""

    def __init__(self, root, log):
        self.log = log
        self.patterns = [node for node in nodes(root) if node[0] == "event"]
        self.known = {}

    def matched(self, pattern, at):
        """The values of a pattern's variables at an event, if it matches."""
        _, name, arguments = self.log[at]
        if name != pattern[1]:
            return None
        binding = {}
        for term, value in zip(pattern[2], arguments):
            if binding.setdefault(term, value) != value or isinstance(term, int) and term != value:
                return None
        return binding

    def seen(self, variable, at):
        key = (variable, at)
        if key not in self.known:
            before = self.seen(variable, at - 1) if at else frozenset()
            found = (self.matched(pattern, at) for pattern in self.patterns if variable in pattern[2])
            self.known[key] = before | {binding[variable] for binding in found if binding}
        return self.known[key]

    def holds(self, node, at, values):
        kind = node[0]
        if kind == "event":
            _, name, arguments = self.log[at]
            given = [values.get(term, term) for term in node[2]]
            return name == node[1] and given == list(arguments)
        if kind == "compare":
            _, op, left, right = node
            a, b = values[left], values.get(right, right)
            seen = a in self.seen(left, at) and (isinstance(right, int) or b in self.seen(right, at))
            return seen and {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b}[op]
        if kind == "quantifier":
            _, word, variable, body = node
            domain = self.seen(variable, at) if word[0].islower() else VALUES + [NEVER]
            each = (self.holds(body, at, {**values, variable: value}) for value in domain)
            return all(each) if word.lower() == "forall" else any(each)
        if kind == "not":
            return not self.holds(node[1], at, values)
        if kind == "@":
            return at > 0 and self.holds(node[1], at - 1, values)
        if kind == "P":
            return self.holds(("S", node[1], None, node[2]), at, values)
        if kind == "H":
            return not self.holds(("S", node[1], None, ("not", node[2])), at, values)
        if kind == "stretch":
            return self.holds(("S", None, ("not", node[2]), node[1]), at, values)
        if kind == "S":
            _, limit, left, right = node
            for then in range(at, -1, -1):
                distance = self.log[at][0] - self.log[then][0]
                timely = limit is None or (distance <= limit[1] if limit[0] == "<=" else distance > limit[1])
                if timely and self.holds(right, then, values):
                    return True
                if left is not None and not self.holds(left, then, values):
                    return False
            return False
        a, b = self.holds(node[1], at, values), self.holds(node[2], at, values)
        return {"&": a and b, "|": a or b, "->": not a or b, "<->": a == b}[kind]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compared = refused = violated = 0
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        for seed in range(options.seed, options.seed + options.rounds):
            dice = random.Random(seed)
            root, now, log = Maker(dice).formula(4, []), 0, []
            for _ in range(8):
                now += dice.randrange(3)
                name = dice.choice(list(EVENTS))
                log.append((now, name, tuple(dice.choice(VALUES) for _ in range(EVENTS[name]))))
            (where / "p.qtl").write_text(f"prop p : {text(root)}\n")
            (where / "l.events").write_text("".join(",".join(map(str, [name, *values, time])) + "\n" for time, name, values in log))
            made = subprocess.run([options.binary, "import", where / "p.qtl", "-o", where / "p.tw"], capture_output=True, text=True)
            if made.returncode:
                if not any(kind in made.stderr for kind in REFUSED):
                    sys.exit(f"seed {seed}: {text(root)}\n{made.stderr}")
                refused += 1
                continue
            done = subprocess.run([options.binary, "check", where / "p.tw", where / "l.events", "--timed", "--no-explain", "--violations", "all",
                                   "--output", "json"], capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"seed {seed}: {text(root)}\n{(where / 'p.tw').read_text()}{done.stdout}{done.stderr}")
            ours = {one["position"] for one in json.loads(done.stdout.splitlines()[0])["violations"]}
            definition = Definition(root, log)
            theirs = {at for at in range(len(log)) if not definition.holds(root, at, {})}
            if ours != theirs:
                print((where / "l.events").read_text())
                sys.exit(f"seed {seed}: {text(root)}\n{(where / 'p.tw').read_text()}violated at {sorted(ours)}, by the definition at {sorted(theirs)}")
            compared += 1
            violated += bool(ours)
    print(f"{compared} properties agree at every event, {violated} of them violated; {refused} were refused")


if __name__ == "__main__":
    main()
