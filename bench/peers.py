"""What scripts that run beside another monitor share."""

import importlib.util
import json
import os
import subprocess
import sys

from run import DATA, installed


def within(package, module=None):
    """Goes on inside bench/data/venv, where `package` is installed with pip, unless it can be imported here already."""
    if importlib.util.find_spec(module or package):
        return
    python = installed(package)
    if os.environ.get("TRACEWISE_WITHIN") == package:
        sys.exit(f"{package} is installed in {python.parent}, but cannot be imported")
    os.environ["TRACEWISE_WITHIN"] = package
    os.execv(python, [str(python), *sys.argv])


def r2u2():
    """R2U2's command, installed with cargo into bench/data/r2u2."""
    program = DATA / "r2u2" / "bin" / "r2u2_cli"
    if not program.exists():
        subprocess.run(["cargo", "install", "-q", "r2u2_cli", "--root", DATA / "r2u2"], check=True)
    return program


def run(command, allowed=(0,)):
    """Standard output of a command that ends as it should."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def truths(command, where, count):
    """Truth at each row by property of where/spec.tw: `G f` is violated exactly where f is false."""
    found = run([command, "check", where / "spec.tw", where / "trace.jsonl", "--clock", "index", "--violations", "all",
                 "--output", "json"], allowed=(0, 1))
    values = {}
    for line in found.splitlines():
        answer = json.loads(line)
        false = {violation["position"] for violation in answer["violations"]}
        if len(false) != answer["violation_count"]:
            sys.exit(f"violations are missing: {line}")
        values[answer["property"]] = [row not in false for row in range(count)]
    return values
