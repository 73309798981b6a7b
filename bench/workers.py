#!/usr/bin/env python3
"""Worker processes that are killed at random: the report must be that of the whole log.

    bench/workers.py BINARY [--runs 50] [--events 120000] [--seed 1]

Each run checks a random log with `--slices N --workers K` and kills its workers (`kill -9`) at random moments, as long as it runs. What it
prints is compared with what `check` without slices prints, byte for byte but for the time taken. Exits with 1 at the first difference.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FORMULAS = [
    "G forall c, s. login(c, s) -> F[0,25) logout(c, s)",
    "G forall c, s. logout(c, s) -> O[0,90] login(c, s)",
    "G forall c, s. login(c, s) -> F[0,25) O[0,0] logout(c, s)",
    "G forall c. login(c, 1) -> count(s : O[0,40] login(c, s)) <= 9",
]
WAYS = ["--slices 8", "--slices 5 --slice-on c", "--slices 6 --period 20m", "--slices 16 --filter-empty off", "--slices 4 --collapse"]


def log(dice, events, path):
    with open(path, "w") as out:
        for at in range(events):
            kind = "login" if dice.random() < 0.5 else "logout"
            computer = dice.randrange(9) if dice.random() < 0.2 else dice.randrange(400)
            out.write(f"@{at // 20} {kind} ({computer},{dice.randrange(4)})\n")


def children(of):
    """The processes that a process has started."""
    try:
        return [int(pid) for pid in Path(f"/proc/{of}/task/{of}/children").read_text().split()] + [
            int(pid) for task in Path(f"/proc/{of}/task").iterdir() if task.name != str(of)
            for pid in (task / "children").read_text().split()]
    except OSError:
        return []


def timeless(text):
    return re.sub(rb"; engine .*", b"", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--events", type=int, default=120_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice, killed, hit, refused = random.Random(options.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "day.log")
        for number in range(options.runs):
            if number % 10 == 0:
                log(dice, options.events, path)
                whole = {}
            formula, way = dice.choice(FORMULAS), dice.choice(WAYS)
            output = dice.choice(["text", "json", "sarif"])
            check = [options.binary, "check", "-e", formula, path, "--output", output, "--violations", "50"]
            if (formula, output) not in whole:
                done = subprocess.run(check, capture_output=True)
                whole[formula, output] = (done.returncode, timeless(done.stdout))
            sliced = [*check, *way.split(), "--workers", str(dice.randint(1, 3))]
            own = 0
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                child = subprocess.Popen(sliced, stdout=out, stderr=err)
                while child.poll() is None:
                    time.sleep(dice.choice([0.0, 0.002, 0.01, 0.03]))
                    workers = children(child.pid)
                    if workers and dice.random() < 0.6:
                        try:
                            os.kill(dice.choice(workers), signal.SIGKILL)
                            own += 1
                        except ProcessLookupError:
                            pass
                out.seek(0)
                err.seek(0)
                found, said = (child.returncode, timeless(out.read())), err.read().decode()
            killed, hit = killed + own, hit + (own > 0)
            if found[0] == 2 and "is not sliced" in said:
                refused += 1
            elif found != whole[formula, output]:
                sys.exit(f"run {number}: {' '.join(sliced)}\nfound {found[0]}\n{found[1].decode()[:2000]}\n{said}")
    print(f"{options.runs} runs, {killed} workers killed in {hit} of them, {refused} refused: all others are the same")


if __name__ == "__main__":
    main()
