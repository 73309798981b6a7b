#!/usr/bin/env python3
"""Kills watches at random moments and resumes them: nothing may be lost, nothing may change.

    bench/kills.py BINARY [--kills 1000] [--seed N] [--keep]

Every combination of `--each-position`, `--sort`, `--heartbeat`, `--query`, `--by` and monitors on traces in `jsonl` and `csv`,
in a file that lies there and in one that grows while it is watched (`--follow`): one watch that nobody disturbs, then
one with a checkpoint that is killed (`kill -9`) a few times, at its start, somewhere, or just while a checkpoint is
being written, and resumed until the end. Their lines together, without the repeats that docs/watch.md ("Checkpoints")
allows, have to be those of the undisturbed watch; so have the exit code and the last values of the queries.

Traces, combinations and plans come from the seed; the moments themselves are the machine's. Exit code 1 on a
difference, whose folder (trace, output of every run, `commands`) is kept and named.
"""

import argparse
import itertools
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Longest time that a watch may take for anything.
PATIENCE = 60
# Times are multiples of STEP seconds and DEADLINE is none: no verdict but that of BEAT depends on how long a run takes.
STEP, DEADLINE, SKEW = 60, 330, 200
BEAT = "G (n > 90 -> F[0,20ms] ack)"
UNTIMED = ["G (req -> F ack)", "G (n > 90 -> X ack)", "G (ack -> O req)", "F done", "G (n < 3 -> X X (n > 20))"]
TIMED = [f"G (req -> F[0,{DEADLINE}s] ack)", f"G (n > 95 -> O[0,{DEADLINE}s] req)"]
QUERIES = ["count[req]", "max[n] - min[n]", "avg[req : n]", "max[count[n > 20 while n < 80]]", "sum[n]"]
MONITORS = """
monitor Twice(user) { event req(user); event ack(user); ere : (req | ack)* req req ack; }
monitor Answered(user, n) warning { event req(user, n); event ack(user); event tick(n); end tick(n); ltl : req -> F ack; }
monitor Steps(n) { event req(n); event ack(n); fsm : idle [ req -> busy, ack -> idle ] busy [ ack -> idle ]; on fail; on idle; }
"""
OPTIONS = ["each-position", "sort", "heartbeat", "query", "by", "monitors"]


class Difference(Exception):
    """What was found."""


class Scenario:
    """A trace, a command line, and how they are disturbed."""

    def __init__(self, binary, number, seed, chosen, form, follow, folder):
        self.random = random.Random(f"{seed}/{number}")
        self.chosen, self.form, self.follow, self.folder = chosen, form, follow, folder
        folder.mkdir(parents=True)
        # The times of the latest 4096 positions are known in any case, those of others by how rows arrive together.
        self.rows = self.random.randrange(1500, 4000)
        self.text = self.trace().encode()
        timed = "heartbeat" in chosen or "sort" in chosen or self.random.random() < 0.5
        formulas = UNTIMED + (TIMED if timed else []) + ([BEAT] if "heartbeat" in chosen else [])
        # Verdicts that either the wall clock or the next row settles. Where rows wait for earlier ones, a deadline may lie
        # between those that wait and the others; lines that tell several violations at once are left out then.
        self.racing = {BEAT}
        if {"heartbeat", "sort"} <= chosen:
            self.racing.add(TIMED[0])
            if "each-position" not in chosen:
                formulas.remove(TIMED[0])
        self.command = [binary, "watch", "--output", "json"]
        queries = QUERIES if "query" in chosen else []
        if "monitors" in chosen:
            # Named by their own texts, as they are without a file.
            spec = "".join(f"property `{text}` : {text};\n" for text in formulas)
            spec += "".join(f"query `{text}` : {text};\n" for text in queries)
            (folder / "spec.tw").write_text(spec + MONITORS)
            self.command.append(str(folder / "spec.tw"))
        else:
            for formula in formulas:
                self.command += ["-e", formula]
            for query in queries:
                self.command += ["--query", query]
        for name, option in [("each-position", ["--each-position"]), ("sort", ["--sort", f"{SKEW}s"]),
                             ("heartbeat", ["--heartbeat", "25ms"]), ("by", ["--by", "user"])]:
            self.command += option if name in chosen else []
        self.command += ["--follow"] if follow else []
        self.every = self.random.choice(["1", "30", "200", "1000", "3ms", "20ms"])
        self.kills, self.resumes, self.during, self.ended = 0, 0, 0, False

    def __str__(self):
        options = " ".join("--" + name for name in sorted(self.chosen)) or "plain"
        return f"{options}, {self.form}, {'--follow' if self.follow else 'file'}, --checkpoint-every {self.every}"

    def trace(self):
        """Rows with an event, a user (sometimes none) and a number; at the end an answer, and `done` twice."""
        rows, at = [], 0
        for index in range(self.rows):
            at += STEP * self.random.randrange(1, 4)
            last = index >= self.rows - 3
            event = "done" if index >= self.rows - 2 else "ack" if last else self.random.choice(["req", "req", "ack", "tick"])
            user = "u0" if last else self.random.choice(["", *(f"u{n}" for n in range(9))])
            number = 50 if last else self.random.randrange(100)
            # The last row comes so late that nothing else waits for one.
            rows.append((at + (100 * SKEW if index == self.rows - 1 else 0), event, user, number))
        if "sort" in self.chosen:
            late = {row: row[0] + self.random.randrange(SKEW) for row in rows}
            rows = sorted(rows[:-1], key=late.get) + rows[-1:]
        if self.form == "csv":
            return "time,event,user,n\n" + "".join(f"{t},{e},{u},{n}\n" for t, e, u, n in rows)
        keep = lambda t, e, u, n: {"time": t, "event": e, **({"user": u} if u else {}), "n": n}
        return "".join(json.dumps(keep(*row)) + "\n" for row in rows)

    def grow(self, path, length):
        """Appends to the file up to this length, in pieces that end anywhere."""
        with open(path, "ab", buffering=0) as file:
            file.write(self.text[path.stat().st_size:length])

    def start(self, name, run, checkpoint):
        trace = self.folder / f"{name}.{self.form}"
        command = self.command + [str(trace)]
        if checkpoint:
            state = str(self.folder / "state" / "watch")
            command += ["--checkpoint", state, "--checkpoint-every", self.every, "--resume"]
        with open(self.folder / "commands", "a") as file:
            file.write(f"{name}.{run}: {shlex.join(command)}\n")
        out, err = (open(self.folder / f"{name}.{run}.{end}", "wb") for end in ("out", "err"))
        with out, err:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def lines(self, name, run):
        """Objects of one run. A killed one may have left half a line."""
        text = (self.folder / f"{name}.{run}.out").read_bytes()
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    def positions(self, name, run):
        """How many a run said last that it had read, when it was asked what is pending."""
        with open(self.folder / f"{name}.{run}.out", "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 50_000))
            lines = file.read().split(b"\n")[:-1]
        return max((json.loads(line)["positions"] for line in lines if line.startswith(b'{"pending"')), default=0)

    def finish(self, process, name, run):
        """To the end: of the file, or of our patience once a file that grows has been read whole."""
        limit = time.monotonic() + PATIENCE
        # The last line waits for later ones that do not come.
        wanted = self.rows - ("sort" in self.chosen)
        while self.follow and process.poll() is None:
            if self.positions(name, run) >= wanted:
                process.send_signal(signal.SIGINT)
                break
            if time.monotonic() > limit:
                break
            # Asks how far it is: what is pending is listed together with the number of positions.
            time.sleep(0.01)
            process.send_signal(signal.SIGUSR1)
        try:
            return process.wait(max(0.1, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Difference(f"{name}.{run} did not end within {PATIENCE} s") from None

    def undisturbed(self):
        path = self.folder / f"whole.{self.form}"
        path.write_bytes(self.text if not self.follow else b"")
        started, run = time.monotonic(), 0
        while True:
            process = self.start("whole", run, False)
            if self.follow:
                self.pieces(path, process, 1.0, lambda: False)
                self.grow(path, len(self.text))
            code = self.finish(process, "whole", run)
            # Asked for what is pending before it could listen.
            if code != -signal.SIGUSR1:
                break
            run += 1
        self.took = time.monotonic() - started
        return code, self.told([self.lines("whole", run)]), self.values(self.lines("whole", run))

    def pieces(self, path, process, share, done):
        """Lets the file grow by this share of it while the watch runs, until something is `done`."""
        size = path.stat().st_size
        target = min(len(self.text), size + int(share * len(self.text)))
        while size < target and process.poll() is None and not done():
            size = min(target, size + self.random.choice([7, 60, 900, 9000, 40000]))
            self.grow(path, size)
            if self.random.random() < 0.3:
                # Sometimes longer than a heartbeat.
                time.sleep(self.random.choice([0, 0.001, 0.004, 0.04]))

    def disturbed(self, kills):
        path = self.folder / f"killed.{self.form}"
        path.write_bytes(self.text if not self.follow else b"")
        (self.folder / "state").mkdir()
        run = 0
        while True:
            process = self.start("killed", run, True)
            self.resumes += run > 0
            if self.kills < kills and not self.ended:
                self.kill(process, path)
                run += 1
                continue
            if self.follow:
                self.grow(path, len(self.text))
            code = self.finish(process, "killed", run)
            if code not in (-signal.SIGUSR1, -signal.SIGKILL):
                break
            run += 1
        runs = [self.lines("killed", number) for number in range(run + 1)]
        return code, self.told(runs), self.values(runs[-1])

    def kill(self, process, path):
        """Kills it at some moment; if it ended before, that is no kill (and the next one goes on from its end)."""
        how = self.random.choice(["start", "anywhere", "anywhere", "writing", "writing"])
        scale = {"start": 0.004, "anywhere": max(0.01, 1.1 * self.took), "writing": 0.3}[how]
        moment = time.monotonic() + self.random.random() * scale
        later = self.random.random() * 0.001

        def writing():
            found = os.listdir(self.folder / "state")
            # A new state lies beside the old one and its lock, under a name of its own.
            return len([name for name in found if name not in self.left and not name.startswith("watch.lock")]) > 0

        self.left = {"watch", *os.listdir(self.folder / "state")}
        hit = lambda: time.monotonic() > moment or (how == "writing" and writing())
        if self.follow:
            self.pieces(path, process, self.random.random() * 0.4, hit)
        while process.poll() is None and not hit():
            if how != "writing":
                time.sleep(max(0, min(0.001, moment - time.monotonic())))
        if how == "writing" and self.random.random() < 0.5:
            time.sleep(later)
        process.kill()
        code = process.wait()
        if code == -signal.SIGKILL:
            self.kills += 1
            self.during += how == "writing" and writing()
        elif code in (0, 1) and not self.follow:
            # It had come to its end: the plan is over.
            self.ended = True
        else:
            raise Difference(f"a watch ended with {code}: {self.errors('killed')}")

    def told(self, runs):
        """What is told, in order, each once: by property, bindings and position (and whether it is settled, since the
        end of a stream may tell of its last position again)."""
        seen = {}
        for line in itertools.chain.from_iterable(runs):
            if "verdict" not in line:
                continue
            bindings = json.dumps(line.get("bindings", {}), sort_keys=True)
            name, position = line["property"], line["position"]
            if "category" in line.get("violation", {}):
                # One position may make a monitor report several bindings.
                bindings += json.dumps(line["violation"]["bindings"], sort_keys=True) + line["violation"]["category"]
            if name in self.racing:
                # Who was first is not compared: what failed is.
                if "each-position" not in self.chosen and line["settled"]:
                    position = line["violation"]["position"]
                line = {"verdict": line["verdict"], "count": line.get("violation_count")}
            else:
                # Rows that are no longer known after a resumption are not shown; their positions are.
                line.get("violation", {}).pop("line", None)
                if "heartbeat" in self.chosen and "deadline" in line:
                    # To which time it had come, the wall clock said; by when it was due is told.
                    line.pop("time", None)
            line.pop("line", None)
            line.pop("property", None)
            seen.setdefault((name, bindings, position, line.pop("settled", True)), line)
        return seen

    def values(self, lines):
        """The last value of every query, and of every key."""
        found = {}
        for line in lines:
            if "query" in line:
                found[line["query"], json.dumps(line.get("bindings", {}), sort_keys=True)] = line
        return found

    def compare(self, kills):
        whole = self.undisturbed()
        if whole[0] not in (0, 1):
            raise Difference(f"the undisturbed watch ends with {whole[0]}: {self.errors('whole')}")
        if not whole[1] or ("query" in self.chosen and not whole[2]):
            raise Difference("the undisturbed watch tells nothing")
        killed = self.disturbed(kills)
        if whole[0] != killed[0]:
            raise Difference(f"exit codes {whole[0]} and {killed[0]}: {self.errors('killed')}")
        for what, a, b in [("told", whole[1], killed[1]), ("values", whole[2], killed[2])]:
            for key in [*a, *(key for key in b if key not in a)]:
                if a.get(key) != b.get(key):
                    raise Difference(f"{what}, {key}:\n  undisturbed {a.get(key)}\n  killed      {b.get(key)}")

    def errors(self, name):
        return "\n".join(file.read_text()[:500] for file in sorted(self.folder.glob(f"{name}.*.err")))


def combinations():
    """Those that are watched, and those that are refused: `--sort` is for one trace, and without queries."""
    taken, refused = [], []
    for flags in itertools.product([False, True], repeat=len(OPTIONS)):
        chosen = {name for name, flag in zip(OPTIONS, flags) if flag}
        where = refused if "sort" in chosen and chosen & {"by", "query"} else taken
        where += [(chosen, form, follow) for form in ("jsonl", "csv") for follow in (False, True)]
    return taken, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the folder of every watch")
    arguments = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="tracewise-kills-"))
    taken, refused = combinations()
    print(f"{len(taken)} combinations; {len(refused)} left out (--sort with --by or with --query is refused)")
    kills = resumes = during = number = differences = 0
    order = random.Random(arguments.seed)
    while kills < arguments.kills:
        if number % len(taken) == 0:
            order.shuffle(taken)
        folder = base / str(number)
        scenario = Scenario(arguments.binary, number, arguments.seed, *taken[number % len(taken)], folder)
        number += 1
        try:
            scenario.compare(min(order.randrange(1, 9), arguments.kills - kills))
        except Difference as difference:
            differences += 1
            print(f"DIFFERENCE in {folder} ({scenario}):\n{difference}", flush=True)
            print(f"  watch {number - 1} of --seed {arguments.seed}; {folder}/commands has the command lines", flush=True)
        else:
            if not arguments.keep:
                shutil.rmtree(folder)
        kills, resumes, during = kills + scenario.kills, resumes + scenario.resumes, during + scenario.during
        if number % 20 == 0 or kills >= arguments.kills:
            print(f"{number} watches, {kills} kills ({during} while a checkpoint was written), {resumes} resumed, "
                  f"{differences} differences", flush=True)
    if not differences and not arguments.keep:
        base.rmdir()
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
