#!/usr/bin/env python3
"""Damaged files through the commands: whatever they hold, the answer is an exit code and a message.

    fuzz/commands.py BINARY [--runs 300] [--seed N] [--seconds S] [--only KIND,…] [--one N]

Takes specifications, models (SMV and JSON), questions to them, programs in SPL, specifications of other monitors, traces
of every format and checkpoints from examples/, corpus/ and fuzz/seeds, damages them (bytes, lines, tokens, large
numbers, deep nesting, splices of two files) and hands each to a command that reads it. A run may take 10 seconds of
processor time and 2 GB of addresses. Exit codes are 0 to 3; a signal, a panic, a limit passed and an error without a
word are failures: their files, with the `command`, are kept in a folder that is named. Checkpoints get a checksum that
fits, so that the damage is read. Run N of a seed is always the same: `--one N` repeats it.

The targets in fuzz_targets go deeper into single readers; this goes through all that a user can reach.
"""

import argparse
import concurrent.futures
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blake3 import blake3

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = 2_000_000  # KiB
SECONDS = 10
FORMATS = ["csv", "jsonl", "json", "props", "events", "monpoly", "csrv-csv", "csrv-xml", "csrv-block"]
ENGINES = ["auto", "columnar", "automaton", "breadth-first", "rewrite", "reverse", "depth-first", "metric", "dense",
           "reference"]
NUMBERS = ["0", "-1", "1", "63", "64", "65", "255", "65536", "2147483648", "4294967295", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e308", "-1e-320", "1e999999", "0.1",
           "99999999999999999999999999999999999999", "1" + "0" * 400, "NaN", "007"]
TOKENS = {
    "spec": "property let query event var real string G F X N Y Z O H U W R S T B -> <-> & | ! ( ) [ ] { } , ; : == != <= "
            "true false null forall exists count sum min max avg quantile median stddev by every while at in . .. => "
            "[0,5s] [0,inf) (1ms,2h] [3,2] response absence_between prev next abs // /* */ \" + - * / % ⊤",
    "model": "MODULE VAR ASSIGN DEFINE INIT TRANS INVAR FAIRNESS JUSTICE COMPASSION LTLSPEC CTLSPEC SPEC next init case "
             "esac : := ; boolean process array of 0..9 -5..5 { } TRUE FALSE union in mod word[8] & | ! -> <-> + - * / "
             "\"states\" \"transitions\" \"from\" \"to\" \"initial\" \"count\" \"values\" \"traces\" null [ ] , self",
    "questions": "A E AX EX AF EF AG EG AU EU A[ E[ U R ] G F X Y O S H [0,3] [0,inf) & | ! -> <-> ( ) = != < # -- true P= ",
    "spl": "local in out where integer boolean channel of [1..] initially while do if then else await when or skip request "
           "release produce consume critical noncritical :: || := = <> < > ( ) [ ] { } ; : , l_0 T F for to mod ~ and",
    "import": "always eventually historically once since until implies and or not xor rise fall [0:10] [0,10] [0:inf] alw_ ev_ "
              "until_ param signal const float int INPUT FTSPEC PTSPEC STRUCT DEFINE bool : := = ; ( ) { } [t] G F O H U S "
              "next prev a0 a1 ms s inf $ * ? ^ abs foreach forsome FORALL EXISTS x. LET IN AND NOT ONCE[0,7d] SINCE p(x,_) <- prop pred "
              "Forall exists @ P[<=3] [p(x),q(x)) @startuml @enduml group prechart main coregion end -> <-- ->x ]-> sequenceDiagram ->> rect Note",
    "trace": "time event @0 @12 @-3 , ; \" ' \n\n = { } [ ] : null true false \\u0000 \\ud800 <log> </log> <event> <name> "
             "<value> &amp; <![CDATA[ <!-- \t \r\n a(b,c) () # // ﻿ 2024-05-01T12:00:00Z 1e5 lock unlock read write fork",
    "checkpoint": "\x00 \x01 \x7f \x80 \u00ff a time",
}
# What is asked, with names of the file in the places of A and B.
FORMULAS = ["G (A -> F B)", "F[0,5s] A", "G (A -> X X B)", "H (A -> O[0,3] B)", "A U (B S A)", "G (A < 3 -> N B > 1)", "G A",
            "G (A = B)", "F[0,100ms] G[1s,2h] (A -> B)", "G[0,9] A & F (B == \"x\")", "true", "G F A"]
QUERIES = ["count[A]", "max[A] by B", "avg[A] every 2s", "quantile(0.9)[A]", "max[count[A while B]]", "distinct[A]",
           "histogram(3)[A]", "corr[A, B]", "sum[A] / count[B]", "mode[A]", "count[true] by A", "stddev[A : B]"]
QUESTIONS = ["AG EF A", "EG !A", "A[A U B]", "AG (A -> AF B)", "E(G F A)", "EF[0,3] (A & EX B)", "AG (A = B)", "AX A | EX !B"]


def seeds():
    """Kind: a list of (name, bytes)."""
    found = {kind: [] for kind in TOKENS}
    # A specification, and the trace that it is about.
    pairs = []
    # The targets take their options from the first bytes of a seed.
    put = lambda kind, name, path, skip=0: found[kind].append((name, path.read_bytes()[skip:]))
    folders = {"spec": "spec.tw", "spl": "program.spl"}
    for path in sorted((ROOT / "fuzz/seeds").glob("*/*")):
        folder = path.parent.name
        if folder in folders:
            put(folder, folders[folder], path)
        elif folder == "import":
            put("import", f"{path.name}.txt", path, 1)
        elif folder == "model":
            put("model", f"model{path.suffix}", path)
        elif folder.replace("_", "-") in FORMATS:
            put("trace", f"trace.{folder.replace('_', '-')}", path)
        elif folder == "live":
            put("trace", f"trace.{path.name}", path, 2)
    kinds = {".tw": "spec", ".spl": "spl", ".smv": "model", ".ctl": "questions", ".csv": "trace", ".jsonl": "trace",
             ".props": "trace", ".events": "trace"}
    for path in sorted((ROOT / "examples").glob("*/*")):
        if path.parent.name == "import" and path.suffix in (".stl", ".rye", ".c2po", ".mfotl", ".qtl", ".puml", ".mmd"):
            name = {"gear.stl": "breach", "grant.stl": "rtamt", "door.rye": "reelay", "grant.c2po": "c2po",
                    "reports.mfotl": "monpoly", "files.qtl": "dejavu", "order.puml": "plantuml", "order.mmd": "mermaid"}[path.name]
            put("import", f"{name}.txt", path)
        elif path.name == "runs.json":
            put("model", "model.json", path)
        elif path.suffix in kinds:
            put(kinds[path.suffix], ("questions.ctl" if path.suffix == ".ctl" else
                                     {"spec": "spec", "spl": "program", "model": "model", "trace": "trace"}
                                     [kinds[path.suffix]] + path.suffix), path)
            if path.suffix == ".tw":
                traces = [near for near in sorted(path.parent.iterdir()) if kinds.get(near.suffix) == "trace"]
                pairs += [(path.read_bytes(), "trace" + near.suffix, near.read_bytes()) for near in traces]
    for path in sorted((ROOT / "corpus").glob("*/*.md")):
        for form, text in re.findall(r"^```([\w-]+)[^\n]*\n(.*?)^```", path.read_text(), re.S | re.M):
            if form == "tw":
                found["spec"].append(("spec.tw", text.encode()))
            elif form in FORMATS:
                found["trace"].append((f"trace.{form}", text.encode()))
                pairs.append((found["spec"][-1][1], f"trace.{form}", text.encode()))
    return found, pairs


def damage(data, kind, others, rng):
    """One to four mutations, half of the time such as leave a text readable."""
    change = rng.choice([mutate, lambda data, *_: vary(data, rng)])
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 4])):
        data = change(data, kind, others, rng)[:1 << 20]
    return data


def vary(data, rng):
    """Another number, word or operator, or the lines otherwise."""
    parts = {0: rb"\d+", 1: rb"[A-Za-z_]\w*", 2: rb"[-+*/<>=!&|]+|\b[GFXNYZOHUWRST]\b"}
    choice = rng.randrange(5)
    found = list(re.finditer(parts.get(choice, rb"."), data))
    if choice in parts and found:
        place, other = rng.choice(found), rng.choice(found).group()
        text = rng.choice(NUMBERS).encode() if choice == 0 and rng.random() < 0.7 else other
        return data[:place.start()] + text + data[place.end():]
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    times = rng.choice([0, 0, 2, 3, 40, 3000]) if choice == 3 else 1
    lines[at:at + 1] = [lines[at] if choice == 3 else rng.choice(lines)] * times
    return b"\n".join(lines)


def mutate(data, kind, others, rng):
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice([1, 2, 5, 20, 100, 1000]))
    choice = rng.randrange(11)
    token = lambda: rng.choice(TOKENS[kind].split(" ")).encode()
    if choice == 0 and data:
        at = min(at, len(data) - 1)
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]
    if choice == 1:
        return data[:at] + data[end:]
    if choice == 2:
        return data[:end] + data[at:end] * rng.choice([1, 1, 2, 10, 300]) + data[end:]
    if choice == 3:
        other = rng.choice(others)[1]
        cut = rng.randrange(len(other) + 1)
        return data[:at] + other[cut:]
    if choice == 4:
        return data[:at]
    if choice == 5:
        number = rng.choice(NUMBERS).encode()
        runs = list(re.finditer(rb"\d+", data))
        if not runs:
            return data[:at] + number + data[at:]
        run = rng.choice(runs)
        return data[:run.start()] + number + data[run.end():]
    if choice == 6:
        opens, closes = rng.choice([("(", ")"), ("[", "]"), ("{", "}"), ('{"a":', "}"), ("!", ""), ("X ", ""), ("(a -> ", ")"),
                                    ("-", ""), ("G[0,9] ", ""), ("<event>", "</event>"), ("count[", "]"), ("/*", "*/"),
                                    ("case ", " esac"), ("EX ", ""), ("if a then ", ""), ("not ", "")])
        depth = rng.choice([3, 30, 130, 1000, 20000])
        return data[:at] + opens.encode() * depth + data[at:end] + closes.encode() * depth + data[end:]
    if choice == 7:
        # A word takes the place of another.
        words = list(re.finditer(rb"[A-Za-z_]+", data))
        if not words:
            return data + token()
        word, other = rng.choice(words), rng.choice(words)
        text = rng.choice([token(), other.group()])
        return data[:word.start()] + text + data[word.end():]
    if choice == 8:
        lines = data.split(b"\n")
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
        return b"\n".join(lines)
    return data[:at] + b" " * rng.randrange(2) + token() + b" " * rng.randrange(2) + data[at:]


def reading(name, rng):
    """Options by which the trace is read."""
    form = Path(name).suffix[1:]
    options = ["--format", form if rng.random() < 0.97 else rng.choice(FORMATS)]
    for option in (["--timed"], ["--sort", "5s"], ["--time-unit", "ns"], ["--time", "n"], ["--threads", "3"]):
        options += option if rng.random() < 0.03 else []
    return options


def asked(texts, data, rng):
    """One of the texts, about names that stand in the file."""
    names = re.findall(r"[A-Za-z_]\w*", data[:2000].decode(errors="replace")) or ["a"]
    fill = {"A": rng.choice(names), "B": rng.choice(names)}
    return re.sub(r"\b[AB]\b(?!\[)", lambda found: fill[found.group()], rng.choice(texts))


def command(kind, name, data, others, trace, rng):
    """Arguments for the file `name` with `data`, and files that it wants beside it. `others` are undamaged files by kind,
    `trace` is that of a specification."""
    output = ["--output", rng.choice(["text", "json"])]
    beside = {}

    def a(other):
        name, data = rng.choice(others[other])
        beside[name] = data
        return name

    judged = ["--engine", rng.choice(ENGINES if rng.random() < 0.3 else ["auto"]),
              "--semantics", rng.choice(["finite", "repeat-last", "ltl3"])]
    if kind == "spec":
        beside[trace[0]] = trace[1]
        trace = trace[0]
        read = reading(trace, rng) + ["--clock", rng.choice(["stamps", "stamps", "index", "dense"])]
        return rng.choice([
            ["fmt", name], ["fmt", "--check", name],
            ["explain", name, *rng.choice([[], ["--automaton", "alternating"], ["--automaton", "dfa"], ["--maude"],
                                           ["--clock-error", "50ms"], ["--output", "json"], ["--semantics", "ltl3"]])],
            ["check", name, trace, *read, *judged, "--output", rng.choice(["text", "json", "junit", "sarif", "github"]),
             *rng.choice([[], ["--by", "event"], ["--witness"], ["--stat", "vacuity"], ["--clock-error", "1s"],
                          ["--show-residual"]])],
            ["check", name, trace, *read, *judged],
            ["watch", name, trace, *read, *judged, *output, *rng.choice([[], ["--each-position"], ["--observers"],
                                                                         ["--by", "event"]])],
            ["query", name, trace, *read, "--output", rng.choice(["text", "json", "csv", "markdown"]),
             *rng.choice([[], ["--at", "all"], ["--witness"], ["--engine", "forward"], ["--engine", "reverse"]])],
            ["robust", name, trace, *read],
            ["merge", "--keep", "state", "--states", name, trace, *reading(trace, rng), "-o", "out.json"],
        ]), beside
    if kind in ("model", "questions"):
        model = name if kind == "model" else a("model")
        questions = ["--spec", name] if kind == "questions" else rng.choice(
            [["--ctl", asked(QUESTIONS, data, rng)], ["--ltl", asked(FORMULAS, data, rng)]])
        return rng.choice([
            ["model-check", model, *questions, *output, *rng.choice([[], ["--probability"], ["--fair", "a"], ["--min-count", "2"]])],
            ["model-check", model, *questions],
            ["model-check", model, "-o", "out." + rng.choice(["json", "smv", "dot", "svg", "pml", "prism", "aut"])]
            if kind == "model" else ["model-check", model, *questions, "--steps", "all"],
            ["coverage", model, *output] if kind == "model" else ["model-check", model, *questions, *output],
        ]), beside
    if kind == "spl":
        return ["simulate", name, "--steps", rng.choice(["0", "1", "500"]), "--loss", rng.choice(["0", "50"]), "-o", "-",
                "--to", rng.choice(["csv", "jsonl", "props", "json"])], beside
    if kind == "import":
        form = name[:-4] if rng.random() < 0.9 else rng.choice(["rtamt", "breach", "reelay", "c2po", "mltl", "monpoly", "dejavu"])
        return ["import", name, "--from", form, *output, *rng.choice([[], ["--period", "100ms"], ["--unit", "ms"]])], beside
    read = reading(name, rng)
    formula, query = ["-e", asked(FORMULAS, data, rng)], ["-e", asked(QUERIES, data, rng)]
    return rng.choice([
        ["inspect", name, *read, *output],
        ["convert", name, *read, "--to", rng.choice(FORMATS), "-o", rng.choice(["-", "out.gz", "out.zst", "out"])],
        ["convert", name, *read, "--to", rng.choice(FORMATS), "-o", "-"],
        ["check", *formula, name, *read, *judged, *output],
        ["eval", *formula, name, *read, "--engine", rng.choice(ENGINES)],
        ["watch", *formula, name, *read, *output, *rng.choice([[], ["--each-position"], ["--by", "event"], ["--skip-bad-lines"],
                                                               ["--watermark", "b"], ["--query", "count[a]"]])],
        ["query", *query, name, *read, "--output", rng.choice(["text", "json", "csv", "markdown"])],
        ["robust", *formula, name, *read, *output],
        ["merge", "--keep", rng.choice(["state", "time", "change", "history", "tree"]), name, *read, "-o",
         "out." + rng.choice(["json", "smv", "dot", "svg", "pml", "prism", "aut"]),
         *rng.choice([[], ["--by", "event"], ["--end-loops", "state"], ["--ctl", "AG EF a"]])],
        ["races", name, *read, *output],
    ]), beside


# Watches whose checkpoints are damaged: options, and the trace they read.
WATCHES = [
    ["-e", "G (a -> F b)", "-e", "F p"], ["-e", "G (a -> F[0,5s] b)", "-e", "H (n < 3)"],
    ["-e", "G (a -> X b)", "--each-position"], ["-e", "G (a -> F[0,5s] b)", "--sort", "3s"],
    ["-e", "G (a -> F b)", "--by", "n"], ["-e", "G (a -> F[0,2s] b)", "--by", "n", "--each-position"],
    ["-e", "F p", "--query", "count[a]", "--query", "max[count[n > 2 while n < 9]]", "--query", "median[n]"],
    ["-e", "G (a -> X b)", "--engine", "rewrite"], ["-e", "G (a -> F b)", "--engine", "breadth-first"],
    ["-e", "G (a -> F[0,5s] b)", "--observers"], ["-e", "F p", "--query", "sum[n]", "--by", "n"],
]


def watched(rng):
    """A trace that a checkpoint is of, and how much of it had been read."""
    rows = [f'{{"time":{second * 2},"event":"{rng.choice("abpq")}","n":{rng.randrange(12)}}}\n' for second in range(60)]
    return "".join(rows), "".join(rows[:rng.randrange(1, 60)])


class Fuzzer:
    def __init__(self, binary, seed, kinds):
        self.binary, self.seed = binary, seed
        self.found, self.pairs = seeds()
        self.kinds = kinds
        self.base = Path(tempfile.mkdtemp(prefix="tracewise-commands-"))

    def limited(self, arguments, folder):
        """Exit code (negative: a signal) and standard error."""
        script = f'ulimit -v {ADDRESSES}; ulimit -t {SECONDS}; ulimit -c 0; exec "$0" "$@"'
        with open(folder / "stderr", "w+b") as err:
            try:
                done = subprocess.run(["/bin/sh", "-c", script, self.binary, *arguments], cwd=folder, stderr=err,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=6 * SECONDS)
                code = done.returncode
            except subprocess.TimeoutExpired:
                code = -9
            err.seek(0)
            return code, err.read(1 << 20).decode(errors="replace")

    def checkpoint(self, rng, folder):
        """Watches a part of a trace; then the whole is to be watched from a state that was damaged."""
        watch = rng.choice(WATCHES)
        whole, part = watched(rng)
        (folder / "trace.jsonl").write_text(part)
        arguments = ["watch", *watch, "trace.jsonl", "--checkpoint", "state", "--output", "json"]
        code, said = self.limited(arguments, folder)
        if not (folder / "state").exists():
            return arguments, (code, said or "no checkpoint")
        (folder / "trace.jsonl").write_text(whole)
        state = (folder / "state").read_bytes()
        body = state[49:]
        if rng.random() < 0.5:
            # Small changes of single bytes get furthest.
            body = bytearray(body)
            for _ in range(rng.choice([1, 1, 2, 4])):
                body[rng.randrange(len(body))] = rng.choice([0, 1, 2, 0x7f, 0x80, 0xff, rng.randrange(256)])
            body = bytes(body)
        else:
            body = damage(body, "checkpoint", [("state", body)], rng)
        (folder / "state").write_bytes(state[:17] + blake3(body) + body)
        return arguments + ["--resume"], None

    def run(self, number):
        """One run: `None`, or what was wrong and where it is kept."""
        rng = random.Random(f"{self.seed}/{number}")
        kind = rng.choice(self.kinds)
        folder = self.base / str(number)
        folder.mkdir()
        result = None
        if kind == "checkpoint":
            arguments, result = self.checkpoint(rng, folder)
        else:
            name, data = rng.choice(self.found[kind])
            trace = rng.choice(self.found["trace"])
            if kind == "spec" and rng.random() < 0.8:
                data, *trace = rng.choice(self.pairs)
            if kind == "questions" and rng.random() < 0.8:
                model = rng.choice(self.found["model"])
                data = "\n".join(asked(QUESTIONS, model[1], rng) for _ in range(3)).encode()
                data = damage(data, kind, self.found[kind], rng)
                arguments, beside = command(kind, name, data, {"model": [model]}, None, rng)
            else:
                data = damage(data, kind, self.found[kind], rng)
                arguments, beside = command(kind, name, data, self.found, trace, rng)
            for other, text in beside.items():
                (folder / other).write_bytes(text)
            (folder / name).write_bytes(data)
        code, said = result or self.limited(arguments, folder)
        wrong = judge(code, said)
        if wrong is None:
            shutil.rmtree(folder)
            return None
        (folder / "command").write_text(shlex.join([self.binary, *arguments]) + "\n")
        last = [line for line in said.strip().split("\n") if line][-2:]
        return f"run {number}: {wrong}: tracewise {shlex.join(arguments)} (in {folder})\n  " + "\n  ".join(last)


def judge(code, said):
    """What is wrong with an exit code and standard error, if anything."""
    if "panicked" in said or code == 101:
        return "panic"
    if code in (-24, -9, 152, 137):
        return f"more than {SECONDS} s"
    if "memory allocation" in said:
        return "more than 2 GB"
    if code < 0 or code > 3:
        return f"signal {-code}" if code < 0 else f"exit code {code}"
    if code == 2 and not said.strip():
        return "exit code 2 without a word"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run after so many seconds")
    parser.add_argument("--only", default=",".join(TOKENS), help="kinds of files: " + ", ".join(TOKENS))
    parser.add_argument("--one", type=int, help="this run alone, its folder kept")
    arguments = parser.parse_args()
    fuzzer = Fuzzer(arguments.binary, arguments.seed, arguments.only.split(","))
    until = time.monotonic() + arguments.seconds
    numbers = range(arguments.runs) if arguments.one is None else [arguments.one]
    done, wrong = 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        attempt = lambda number: fuzzer.run(number) if time.monotonic() < until else "late"
        for found in pool.map(attempt, numbers):
            if found == "late":
                continue
            done += 1
            if found:
                wrong += 1
                print(found, flush=True)
            if done % 500 == 0:
                print(f"{done} runs, {wrong} failures", flush=True)
    print(f"{done} runs of seed {arguments.seed}, {wrong} failures" + (f", kept in {fuzzer.base}" if wrong else ""))
    if not wrong:
        shutil.rmtree(fuzzer.base)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
