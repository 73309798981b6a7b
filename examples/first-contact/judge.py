#!/usr/bin/env python3
"""Asks Tracewise about each log of this folder and checks the answers against counts made here, without it.

    examples/first-contact/judge.py [TRACEWISE]
"""

import csv
import gzip
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRACEWISE = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/tracewise").resolve()


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def lines(*names):
    for name in names:
        opened = gzip.open(HERE / name, "rt") if name.endswith(".gz") else open(HERE / name)
        with opened as file:
            yield from file


def whole(names):
    for number, line in enumerate(lines(*names)):
        try:
            yield number, json.loads(line)
        except ValueError:
            pass


def missed(rows, left, right, within):
    """Positions and keys of `left` events that no `right` event follows in time. Rows: (position, time, key, events)."""
    for position, time, key, events in rows:
        late = lambda other: other[0] >= position and other[2] == key and right & other[3] and other[1] - time <= within
        if left in events and not any(map(late, rows)):
            yield position, key


def nginx():
    rows = [(n, seconds(r["@timestamp"]), r["http"]["path"], {"bad" if r["http"]["status"] >= 500 else "good"})
            for n, r in whole(["nginx.jsonl"])]
    return missed(rows, "bad", {"good"}, 30)


def kubernetes():
    rows = [(n, seconds(r["metadata"]["creationTimestamp"]), r["involvedObject"]["name"], {r["reason"]})
            for n, r in whole(["kubernetes.jsonl"])]
    return missed(rows, "Scheduled", {"Started"}, 60)


def otel():
    export = json.loads((HERE / "otel.json").read_text())
    for span in export["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        length = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9
        if span["name"] == "charge card" and length >= 0.5:
            yield None, span["traceId"]


def heater():
    with open(HERE / "heater.csv") as file:
        for position, row in enumerate(csv.DictReader(file, delimiter=";")):
            if row["temperature"] != "N/A" and float(row["temperature"]) > float(row["setpoint"]) + 1:
                yield position, None


def locks():
    with open(HERE / "locks.csv") as file:
        rows = [(n, int(r["time"]), (r["thread"], r["lock"]), {r["event"]}) for n, r in enumerate(csv.DictReader(file))]
    return missed(rows, "acquire", {"release"}, float("inf"))


def orders():
    paid = set()
    with open(HERE / "orders.csv") as file:
        for position, row in enumerate(csv.DictReader(file)):
            if row["event"] == "paid":
                paid.add(row["order"])
            if row["event"] == "shipped" and row["order"] not in paid:
                yield position, row["order"]


def ssh():
    failures = defaultdict(list)
    for position, row in whole(["ssh.jsonl"]):
        if row["event"] == "failed":
            failures[row["ip"]].append(row["ts"])
        elif sum(row["ts"] - at <= 60_000 for at in failures[row["ip"]]) >= 3:
            yield position, row["ip"]


JOBS = ["jobs.log.2.gz", "jobs.log.1.gz", "jobs.log"]


def jobs():
    rows = [(n, seconds(r["time"]), r["job"], {r["event"]}) for n, r in whole(JOBS)]
    return missed(rows, "started", {"passed", "failed"}, 600)


def application():
    rows = list(whole(["application.log"]))
    closed = {r["connection"] for _, r in rows if r["event"] == "closed"}
    for position, (_, row) in enumerate(rows):
        if row["event"] == "opened" and row["connection"] not in closed:
            yield position, row["connection"]


# The commands of docs/first-contact.md, in its order, and who judges them.
JUDGES = [nginx, kubernetes, otel, heater, locks, orders, ssh, jobs, application]


def commands():
    """The first `tracewise check` of each section of the page, as the arguments of a command."""
    page = (HERE.parent.parent / "docs" / "first-contact.md").read_text()
    for section in page.split("\n## ")[1:]:
        found = re.search(r"^\$ tracewise (check .*)$", section, re.M)
        if found:
            # What the page cuts off is not for the judge.
            yield shlex.split(re.split(r" 2>&1| \| head", found.group(1))[0])


def main():
    # Behind the logs the page watches them, and shows what mistakes lead to.
    asked = list(commands())[:len(JUDGES)]
    assert len(asked) == len(JUDGES), f"{len(asked)} commands on the page, {len(JUDGES)} judges"
    for words, judge in zip(asked, JUDGES):
        run = subprocess.run([TRACEWISE, *words, "--output", "json", "--violations", "all"],
                             cwd=HERE.parent.parent, capture_output=True, text=True)
        assert run.returncode == 1, (words, run.stderr)
        answer = json.loads(run.stdout.splitlines()[0])
        found = [(v["position"], list(v["bindings"].values())) for v in answer["violations"]]
        right = list(judge())
        assert right, f"{judge.__name__}: nothing to find"
        same = len(found) == len(right) and all(
            (position is None or position == own) and (key is None or list(key if isinstance(key, tuple) else [str(key)]) == values)
            for (position, key), (own, values) in zip(right, found))
        assert same, f"{judge.__name__}: Tracewise finds {found}, expected {right}"
        print(f"ok: {judge.__name__}, {len(right)} found")


main()
