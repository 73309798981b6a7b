#!/usr/bin/env python3
"""Three servers behind the partitions of a NATS stream, one of them killed: all that an unbroken single server tells is told, none missing.

    bench/cluster.py BINARY [--seconds 12] [--kills 2] [--partitions 6] [--seed N] [--keep]

Events of users are published to `events.<partition of the user>`. Three members read the partitions and the whole; at a random moment one gets
SIGKILL, the others go on with its units; it comes back later, and units move again. Every other one gets SIGSTOP instead, and SIGCONT when others have
its units. At the end the violations that are kept in the broker
are compared

- with those of one server alone that reads the same stream without a break: same ids, same content;
- with what `tracewise watch` finds in all events: same properties, bindings and events.

Exit code 1 on a difference, whose folder is kept and named.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from broker_kills import Nats
from server_kills import Difference, Server, expected

SPECS = {
    "data": """
event req(user: string, n: int); event ack(user: string, n: int); event tick(n: int);
property first_order : G forall u. ack(user: u) -> O req(user: u);
property soon : G forall u. req(user: u) -> F[0,5s] ack(user: u);
property calm : G (n < 990);
property answered : G (req -> F[0,2s] ack);
query requests : count[req];
""",
    "keyed": """
trace { by: user; }
property quick : G (req -> F[0,3s] ack);
property starts : !ack W req;
monitor Twice(user) { event req(user); event ack(user); ere : (req | ack)* req req ack; }
""",
}
WHOLE = {"answered", "requests"}


def settings(member, port, partitions):
    return (f'[server]\ncheckpoint = "100ms"\n[cluster]\nmember = "{member}"\nurl = "nats://127.0.0.1:{port}"\nstream = "EVENTS"\n'
            f'subject = "events.*"\ninto = "main"\npatience = "2s"\n'
            f'[[cluster.key]]\nfield = "user"\nsubject = "events.{{partition}}"\npartitions = {partitions}\n')


def member(binary, base, name, port, partitions, seed):
    folder = base / name
    (folder / "specs").mkdir(parents=True)
    for spec, text in SPECS.items():
        (folder / "specs" / f"{spec}.tw").write_text(text)
    (folder / "config.toml").write_text(settings(name, port, partitions))
    return Server(binary, folder, f"{seed}/{name}")


def request(link, subject, payload=b""):
    """Asks, and gives the headers and the answer."""
    link.send(b"PUB %s answers %d\r\n%s\r\n" % (subject.encode(), len(payload), payload))
    while True:
        line = link.line()
        if line.startswith(b"HMSG "):
            own, all_ = map(int, line.split()[-2:])
            text = link.bytes(all_ + 2)
            return text[:own].decode(), text[own:-2]
        if line.startswith(b"MSG "):
            return "", link.bytes(int(line.split()[-1]) + 2)[:-2]


def kept(broker):
    """The violations that members keep in the broker, by their ids."""
    link, found, number = broker.connect(), {}, 0
    _, text = request(link, "$JS.API.STREAM.INFO.TRACEWISE_main_FOUND")
    state = json.loads(text).get("state", {"last_seq": 0})
    while number < state["last_seq"]:
        question = json.dumps({"seq": number + 1, "next_by_subj": ">"}).encode()
        headers, text = request(link, "$JS.API.DIRECT.GET.TRACEWISE_main_FOUND", question)
        if "404" in headers.split("\r\n")[0]:
            break
        number = int(next(line for line in headers.split("\r\n") if line.startswith("Nats-Sequence")).split(":")[1])
        told = json.loads(text)
        found[told["id"]] = told
    link.close()
    return found


class Publisher(threading.Thread):
    """Publishes events of users to their partitions, in one order."""

    def __init__(self, broker, partitions, seed):
        super().__init__(daemon=True)
        self.broker, self.partitions, self.random, self.lines, self.now = broker, partitions, random.Random(f"{seed}/publisher"), [], 1000.0
        self.over, self.failed = threading.Event(), None

    def publish(self, link, rows):
        for row in rows:
            row["time"] = self.now
            row["id"] = f"e{len(self.lines)}"
            number = int(row["user"][1:]) % self.partitions
            line = json.dumps(row)
            link.send(b"PUB events.%d answers %d\r\n%s\r\n" % (number, len(line), line.encode()))
            self.lines.append((number, row, line))
        for _ in rows:
            self.broker.answer(link)

    def run(self):
        try:
            link = self.broker.connect()
            while not self.over.is_set():
                self.now += self.random.choice([0, 0, 0.25, 1])
                rows = [{"event": self.random.choice(["req", "req", "ack", "tick"]), "user": f"u{self.random.randrange(40)}",
                         "n": self.random.randrange(1000)} for _ in range(self.random.choice([1, 5, 40]))]
                self.publish(link, rows)
                time.sleep(self.random.choice([0.002, 0.02]))
            # Time passes everywhere, so that all that is due is told.
            for later in (60, 120):
                self.now += later
                self.publish(link, [{"event": "tick", "user": f"u{number}", "n": 1} for number in range(40)])
            link.close()
        except Exception as why:
            self.failed = why


def plan(server):
    status, body = server.ask("GET", "/v1/plan")
    if status != 200:
        raise Difference(f"/v1/plan: status {status}: {body[:300]}")
    return json.loads(body)


def until(what, good, patience=90):
    end = time.monotonic() + patience
    while True:
        found = good()
        if found:
            return found
        if time.monotonic() > end:
            raise Difference(f"not in time: {what}")
        time.sleep(0.2)


def shared_out(server, members, partitions):
    """Every unit is with one of so many members."""
    told = plan(server)
    return len(told["members"]) == members and len([unit for unit in told["units"] if unit.get("member") in told["members"]]) == partitions + 1


def without_text(told):
    return {key: value for key, value in told.items() if key != "line"} | {"line": told["line"] and told["line"]["line"]}


def of_events(found, lines):
    """Of each property what violated it: with which values, at which event, how often. Positions on a partition are those of its events."""
    units = {"main": [row for _, row, _ in lines]}
    for number, row, _ in lines:
        units.setdefault(f"main.user.{number}", []).append(row)
    rows = {}
    for told in found:
        row = units[told.get("stream", "main")][told["position"]]
        place = (json.dumps(told["bindings"], sort_keys=True), row["id"])
        rows.setdefault(told["property"], []).append((place, told.get("count", 1)))
    return rows


def run(binary, base, options):
    seed, partitions = options.seed, options.partitions
    chance = random.Random(seed)
    broker = Nats(base / "broker")
    broker.start()
    processes = []
    try:
        servers = [member(binary, base, name, broker.port, partitions, seed) for name in "abc"]
        for server in servers:
            server.start()
            processes.append(server)
        until("three members share the units", lambda: shared_out(servers[0], 3, partitions))
        told = plan(servers[0])
        where = {own["property"]: own["judged"] for own in told["properties"]}
        if any((where[name] == "whole") != (name in WHOLE) for name in where):
            raise Difference(f"judged in another place: {where}")
        whole = next(unit["member"] for unit in told["units"] if unit["unit"] == "main")
        publisher = Publisher(broker, partitions, seed)
        publisher.start()
        began = time.monotonic()
        for kill in range(options.kills):
            time.sleep(options.seconds / options.kills / 2 * (0.5 + chance.random()))
            # The first that dies is the one that has the whole.
            victim = servers["abc".index(whole)] if kill == 0 else chance.choice(servers)
            alive = next(server for server in servers if server is not victim)
            # Every other one is not dead but asleep: it wakes up when its units are with others, and does not know.
            asleep = kill % 2 == 1
            victim.process.send_signal(signal.SIGSTOP) if asleep else victim.kill()
            until("two members have all units", lambda: shared_out(alive, 2, partitions))
            time.sleep(options.seconds / options.kills / 4 * chance.random())
            victim.process.send_signal(signal.SIGCONT) if asleep else victim.start()
            until("three members share the units again", lambda: shared_out(alive, 3, partitions))
        time.sleep(max(0, began + options.seconds - time.monotonic()))
        publisher.over.set()
        publisher.join()
        if publisher.failed:
            raise Difference(f"publishing: {publisher.failed!r}")
        lines = publisher.lines
        until("all lines are judged", lambda: judged_here(servers, lines, partitions))
        time.sleep(2)
        shared = kept(broker)
        for server in servers:
            server.process.send_signal(signal.SIGTERM)
            if server.process.wait() != 0:
                raise Difference(f"exit {server.process.returncode} after TERM: {(server.folder / 'said').read_text()[-500:]}")
        forget(broker)
        alone = member(binary, base, "alone", broker.port, partitions, seed)
        alone.start()
        processes.append(alone)
        until("one member has all units", lambda: shared_out(alone, 1, partitions))
        until("all lines are judged by one", lambda: judged_here([alone], lines, partitions))
        time.sleep(2)
        unbroken = kept(broker)
        alone.process.send_signal(signal.SIGTERM)
        alone.process.wait()
    finally:
        for server in processes:
            server.process.send_signal(signal.SIGCONT)
            server.process.kill()
        broker.process.kill()
    missing, more = unbroken.keys() - shared.keys(), shared.keys() - unbroken.keys()
    if missing or more:
        raise Difference(f"{len(shared)} violations, expected {len(unbroken)}; missing {[unbroken[one] for one in list(missing)[:3]]}, "
                         f"too many {[shared[one] for one in list(more)[:3]]}")
    other = [one for one in shared if without_text(shared[one]) != without_text(unbroken[one])]
    if other:
        raise Difference(f"{len(other)} violations are told otherwise: {shared[other[0]]}, expected {unbroken[other[0]]}")
    compared = 0
    for spec in SPECS:
        path = base / "alone" / "specs" / f"{spec}.tw"
        theirs = of_events(expected(binary, base, path, [line for _, _, line in lines], 0), lines)
        ours = of_events([one for one in shared.values() if one["spec"] == spec], lines)
        for name in theirs.keys() | ours.keys():
            mine, other = ours.get(name, []), theirs.get(name, [])
            # What one moment settles is told together, with how many there are: on a partition, moments are those of its events.
            alike = [count for _, count in mine + other] == [1] * len(mine + other)
            if sum(count for _, count in mine) != sum(count for _, count in other) or alike and sorted(mine) != sorted(other):
                raise Difference(f"{name}: {sum(count for _, count in mine)} violations, `watch` finds {sum(count for _, count in other)}; "
                                 f"missing {[one for one in other if one not in mine][:4]}, too many {[one for one in mine if one not in other][:4]}")
            compared += sum(count for _, count in mine)
    return len(lines), len(shared), compared


def judged_here(servers, lines, partitions):
    """All lines of each unit are judged, by whoever has it."""
    units = Counter(f"main.user.{number}" for number, _, _ in lines)
    units["main"] = len(lines)
    done = Counter()
    for server in servers:
        _, body = server.ask("GET", "/v1/streams")
        for stream in json.loads(body)["streams"]:
            if not stream["behind"]:
                done[stream["stream"]] = max(done[stream["stream"]], stream["lines"])
    return all(done[unit] == count for unit, count in units.items())


def forget(broker):
    link = broker.connect()
    for stream in ("TRACEWISE_main", "TRACEWISE_main_FOUND"):
        request(link, f"$JS.API.STREAM.DELETE.{stream}")
    link.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin"):
        print("nats-server is not installed; nothing was compared")
        sys.exit(1 if os.environ.get("CI") == "true" else 0)
    base = Path(tempfile.mkdtemp(prefix="tracewise-cluster-"))
    began = time.monotonic()
    try:
        events, found, compared = run(str(Path(options.binary).resolve()), base, options)
    except Difference as difference:
        print(f"seed {options.seed}: {difference}\n  kept in {base}")
        sys.exit(1)
    print(f"seed {options.seed}: {options.kills} kills, {events} events, {found} violations as by one unbroken server, {compared} as by `watch`; "
          f"{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}")
    if not options.keep:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
