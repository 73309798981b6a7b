#!/usr/bin/env python3
"""Verdicts of linear time beside Spin's, on random small models and formulas.

    bench/spin.py [--models 30] [--formulas 10] [--merged 5] [--seed 1] [--tracewise PATH]

Each model is written twice from the same random transitions: as an `.smv` file for `tracewise model-check`, and as
Promela for Spin. The `--merged` models are merged from random traces by `tracewise merge`, which writes both files, so
that its export to Promela is checked, too (on formulas without `X`). Needs Spin and a C compiler (Debian: `apt install spin gcc`). Exits with 1 on
any disagreement.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# How operators are written here and there. Spin as Debian builds it has no `X`: the model turns a bit over at each step,
# and `X f` is `f` where it is first turned.
UNARY = {"!": "! ({0})", "F": "<> ({0})", "G": "[] ({0})",
         "X": "((turn && (turn U (!turn && ({0})))) || (!turn && (!turn U (turn && ({0})))))"}
BINARY = {"&": "&&", "|": "||", "->": "->", "<->": "<->", "U": "U", "W": "W", "R": "V"}


def formula(rng, depth, nexts):
    """A random formula: nested tuples over p, q and r, with at most so many `X` above each other."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice("pqr")
    if rng.random() < 0.5:
        operator = rng.choice([operator for operator in UNARY if nexts > 0 or operator != "X"])
        return (operator, formula(rng, depth - 1, nexts - (operator == "X")))
    return (rng.choice(list(BINARY)), formula(rng, depth - 1, nexts), formula(rng, depth - 1, nexts))


def write(tree, atoms, unary, binary):
    """The formula as text; `atoms` says what p, q and r are, and operators are written as the tables tell."""
    if isinstance(tree, str):
        return atoms[tree]
    parts = [write(part, atoms, unary, binary) for part in tree[1:]]
    if len(parts) == 1:
        return unary[tree[0]].format(parts[0])
    return f"({parts[0]}) {binary[tree[0]]} ({parts[1]})"


def ours(tree, labels):
    unary, binary = {operator: operator + " ({0})" for operator in UNARY}, {operator: operator for operator in BINARY}
    atom = {name: " | ".join(f"state = s{state}" for state in states) or "false" for name, states in labels.items()}
    return write(tree, {name: f"({text})" for name, text in atom.items()}, unary, binary)


def theirs(tree, before, atoms):
    """For Spin: from where an initial state has been chosen on."""
    return f"({before}) U (!({before}) && ({write(tree, atoms, UNARY, BINARY)}))"


def random_model(rng):
    """Transitions and initial states; some states may have no successor."""
    count = rng.randint(1, 6)
    edges = sorted({(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(count, 2 * count + 2))})
    initial = sorted({rng.randrange(count) for _ in range(rng.randint(1, 2))})
    return count, edges, initial


def smv(count, edges, initial):
    names = ", ".join(f"s{state}" for state in range(count))
    begin = " |\n    ".join(f"(state = s{state})" for state in initial)
    steps = " |\n    ".join(f"(state = s{a} & next(state) = s{b})" for a, b in edges)
    return f"MODULE main\n  VAR\n    state : {{{names}}};\n  INIT\n    {begin}\n  TRANS\n    {steps}\n"


def promela(count, edges, initial, labels):
    """One step per transition. The first step chooses an initial state; where nothing follows, nothing changes."""
    def bits(state):
        return "".join(f" {name} = {int(state in states)};" for name, states in labels.items())

    last = [(state, state) for state in range(count) if all(state != a for a, _ in edges)]
    steps = [(255, state) for state in initial] + edges + last
    options = "\n".join(f"  :: d_step {{ state == {a} -> state = {b};{bits(b)} turn = 1 - turn; start = 0 }}" for a, b in steps)
    return f"byte state = 255;\nbit start = 1, turn, p, q, r;\nactive proctype model()\n{{\n  do\n{options}\n  od\n}}\n"


def run(command, where, allowed=(0,), timeout=None):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=timeout)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def translates(where, text, formula):
    """Whether Spin makes an automaton of a formula within seconds: for some it takes hours."""
    (where / "judge.pml").write_text(f"{text}ltl f {{ {formula} }}\n")
    try:
        run(["spin", "-a", "judge.pml"], where, timeout=2)
        return True
    except subprocess.TimeoutExpired:
        return False


def spin(where, text, formulas):
    """Whether each formula holds of all paths of a Promela text."""
    claims = "".join(f"ltl f{number} {{ {text} }}\n" for number, text in enumerate(formulas))
    (where / "judge.pml").write_text(text + claims)
    run(["spin", "-a", "judge.pml"], where)
    # Transitions are what `X` counts: none may be left out or put together.
    run(["gcc", "-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"], where)
    verdicts = []
    for number in range(len(formulas)):
        found = run(["./pan", "-a", "-m100000", "-N", f"f{number}"], where)
        errors = re.search(r"errors: (\d+)", found)
        if not errors or "max search depth too small" in found:
            sys.exit(f"no verdict from Spin:\n{found}")
        verdicts.append(errors.group(1) == "0")
    return verdicts


def tracewise(command, where, model, formulas):
    asked = [part for text in formulas for part in ("--ltl", text)]
    output = run([command, "model-check", model, *asked, "--output", "json"], where, allowed=(0, 1))
    answers = [json.loads(line) for line in output.splitlines() if line.strip()]
    if len(answers) != len(formulas):
        sys.exit(f"{len(answers)} answers to {len(formulas)} formulas:\n{output}")
    return [answer["holds"] for answer in answers]


def labelled(rng, states):
    return {name: [state for state in states if rng.random() < 0.5] for name in "pqr"}


def written(rng, where):
    """A model for both: labels, the text for Spin, what holds there before the first state, and what labels are."""
    count, edges, initial = random_model(rng)
    labels = labelled(rng, range(count))
    (where / "model.smv").write_text(smv(count, edges, initial))
    return labels, promela(count, edges, initial, labels), "start", {name: name for name in "pqr"}


def merged(rng, where, command):
    """The same for a model that is merged from traces, which `tracewise` writes for both."""
    names = []
    for number in range(rng.randint(1, 4)):
        rows = [f"s{rng.randrange(5)}" for _ in range(rng.randint(1, 8))]
        names.append(f"trace{number}.csv")
        (where / names[-1]).write_text("state\n" + "\n".join(rows) + "\n")
    run([command, "merge", "--keep", "state", *names, "-o", "model.smv", "-o", "model.pml"], where)
    text = (where / "model.pml").read_text()
    known = re.findall(r"#define state_(\S+) \((.*?)\)", text)
    meant = {int(name[1:]): condition for name, condition in known}
    labels = labelled(rng, sorted(meant))
    atoms = {name: "(" + (" || ".join(meant[state] for state in states) or "false") + ")"
             for name, states in labels.items()}
    return labels, text, "at == -1", atoms


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--formulas", type=int, default=10)
    parser.add_argument("--merged", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tracewise", type=Path, default=ROOT / "target" / "release" / "tracewise")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    command = options.tracewise.resolve()
    cases, held, different, skipped = 0, 0, 0, 0
    for number in range(options.models + options.merged):
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            make = written(rng, where) if number < options.models else merged(rng, where, command)
            labels, text, before, atoms = make
            nexts, trees = 1 if number < options.models else 0, []
            while len(trees) < options.formulas:
                tree = formula(rng, rng.randint(1, 4), nexts)
                if translates(where, text, theirs(tree, before, atoms)):
                    trees.append(tree)
                else:
                    skipped += 1
            judged = spin(where, text, [theirs(tree, before, atoms) for tree in trees])
            found = tracewise(command, where, "model.smv", [ours(tree, labels) for tree in trees])
            for tree, ours_is, theirs_is in zip(trees, found, judged):
                cases += 1
                held += theirs_is
                if ours_is != theirs_is:
                    different += 1
                    print(f"model {number}: {ours(tree, labels)}: Spin says {theirs_is}, tracewise {ours_is}")
                    print((where / "model.smv").read_text())
    print(f"{cases} formulas on {options.models + options.merged} models, {held} of them hold: "
          f"{different} disagreements ({skipped} formulas were too hard for Spin)")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
