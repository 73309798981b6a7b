#!/usr/bin/env python3
"""Kills a server at random moments, under load: nothing that was acknowledged may be lost, no violation lost or told otherwise.

    bench/server_kills.py BINARY [--kills 200] [--seed N] [--rounds N] [--keep]

Each round starts `tracewise serve` on a new folder with specifications of every kind. Clients post numbered events, most of
them waiting for the disk, some not; after a random time the server gets SIGKILL, and another one goes on where it was.
At the end:

- every event whose acknowledgement (from disk) a client has is in the log, once, and in the order in which that client sent it;
- the violations of each specification, by `GET /v1/violations`, are those that `tracewise watch` finds in the log's lines, each
  once: same property, position, line and bindings, and ids all differ;
- every violation that a feed told, before whichever kill, is among them, with its id.

Specifications change during a round, too: one is put while events come, and is compared from its first line on. Exit code 1 on a
difference, whose folder is kept and named.

`--full N` adds N rounds in which the disk is full for a while (files may not grow beyond a limit, which is lifted later): posts that wait
for the disk are refused with 503, `/readyz` says so, and afterwards all that was acknowledged is there and judged. In the middle of it the
server is killed, and goes on with the disk that is still full.

`--corrupt N` adds N rounds in which the last segment is damaged after each kill (cut short, a byte changed, rubbish after its end): the log is cut
back to its last good record, that is said, and everything before it is there, judged, under the ids that it had.
"""

import argparse
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PATIENCE = 60

SPECS = {
    "plain": """
property answered : G (req -> F[0,5s] ack);
property alternates : G (ack -> O req);
property first_order : G forall u. ack(user: u) -> O req(user: u);
property calm : G (n < 990);
query requests : count[req];
""",
    "keyed": """
trace { by: user; }
property answered : G (req -> X (ack | tick));
property quick : G (req -> F[0,3s] ack);
property starts : !ack W req;
""",
    "monitors": """
trace { stream: main; }
monitor Twice(user) { event req(user); event ack(user); ere : (req | ack)* req req ack; }
monitor Answered(user) warning { event req(user); event ack(user); ltl : G (req -> X ack); }
""",
    "elsewhere": "trace { stream: another; }\nproperty never : G false;\n",
}
LATE = "property late : G (tick -> n < 900);\nproperty later : G (req -> F[0,4s] ack);\n"


class Difference(Exception):
    """What was found."""


class Server:
    """A server on a folder, started again after each kill."""

    def __init__(self, binary, folder, seed):
        self.binary, self.folder, self.port, self.process = binary, folder, None, None
        self.random = random.Random(f"{seed}/server")

    def start(self, largest=None):
        command = [self.binary, "serve", "--listen", f"127.0.0.1:{self.port or 0}", "--data", str(self.folder / "data"),
                   "--specs", str(self.folder / "specs"), "--config", str(self.folder / "config.toml")]
        errors = open(self.folder / "said", "ab")
        for _ in range(50):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
            # Python ignores the signal that tells of the limit, and so does what it starts here.
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors,
                                            preexec_fn=limit if largest else None, restore_signals=not largest)
            line = self.process.stdout.readline().decode()
            found = re.match(r"listening on http://127\.0\.0\.1:(\d+)$", line)
            if found:
                self.port = int(found[1])
                return
            self.process.wait()
            # The port of the one before may still be in use for a moment.
            time.sleep(0.1)
        raise Difference(f"the server does not start: {(self.folder / 'said').read_text()[-2000:]}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Client(threading.Thread):
    """Posts numbered events; knows which were acknowledged from disk."""

    def __init__(self, server, name, seed, clock):
        super().__init__(daemon=True)
        self.server, self.name, self.clock = server, name, clock
        self.random = random.Random(f"{seed}/{name}")
        self.next, self.acknowledged, self.over = 0, [], threading.Event()

    def lines(self, count):
        rows = []
        for _ in range(count):
            event = self.random.choice(["req", "req", "ack", "tick"])
            rows.append({"event": event, "user": f"u{self.random.randrange(9)}", "n": self.random.randrange(1000),
                         "id": f"{self.name}-{self.next}"})
            self.next += 1
        return rows

    def run(self):
        connection = None
        while not self.over.is_set():
            rows = self.lines(self.random.choice([1, 1, 5, 100]))
            durable = self.random.random() < 0.8
            # Times of one stream do not go back, whoever sends.
            with self.clock:
                now = self.clock.now = self.clock.now + self.random.choice([0, 0, 0.25, 1])
                body = "".join(json.dumps({"time": now, **row}) + "\n" for row in rows)
                try:
                    if connection is None:
                        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=5)
                    connection.request("POST", "/v1/streams/main/events" + ("" if durable else "?ack=memory"), body)
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status == 200 and durable:
                        self.acknowledged += [row["id"] for row in rows]
                    elif answer.status not in (200, 202, 429, 503):
                        raise Difference(f"status {answer.status}")
                except (OSError, http.client.HTTPException):
                    connection = None
                    time.sleep(0.01)


class Feed(threading.Thread):
    """Hears what is told."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.heard, self.over = server, {}, threading.Event()

    def run(self):
        while not self.over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", self.server.port), 1) as connection:
                    connection.settimeout(0.5)
                    connection.sendall(b"GET /v1/feed HTTP/1.1\r\nHost: x\r\n\r\n")
                    kept = b""
                    while not self.over.is_set():
                        try:
                            piece = connection.recv(1 << 16)
                        except TimeoutError:
                            continue
                        if not piece:
                            break
                        *lines, kept = (kept + piece).split(b"\n")
                        for line in lines:
                            # What is cut by the kill, or by a piece of the body, is not looked at.
                            if line.startswith(b'data: {"id":') and line.endswith(b"}"):
                                try:
                                    told = json.loads(line[6:])
                                    self.heard[told["id"]] = told
                                except ValueError:
                                    pass
            except OSError:
                time.sleep(0.02)


class Clock:
    """The time of the stream; held while somebody sends."""

    def __init__(self):
        self.now, self.lock = 1000.0, threading.Lock()

    def __enter__(self):
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def violations(server):
    """All violations, page by page."""
    found, since = [], 0
    while True:
        status, body = server.ask("GET", f"/v1/violations?since={since}&limit=997")
        if status != 200:
            raise Difference(f"violations: status {status}: {body[:300]}")
        page = json.loads(body)
        found += page["violations"]
        if page["next"] == since:
            return found
        since = page["next"]


def events(server):
    """All lines of the stream."""
    lines, since = [], 0
    while True:
        status, body = server.ask("GET", f"/v1/streams/main/events?since={since}&limit=5000")
        if status != 200:
            raise Difference(f"events: status {status}: {body[:300]}")
        page = body.decode().splitlines()
        if not page:
            return lines
        lines += page
        since += len(page)


def settle(server, lines):
    """Waits until all lines are judged."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        status, body = server.ask("GET", "/v1/streams")
        stream = json.loads(body)["streams"][0]
        if status == 200 and stream["behind"] == 0 and stream["lines"] >= lines:
            return
        time.sleep(0.05)
    raise Difference("the lines are not judged in time")


def key(found):
    return (found["property"], found["position"], json.dumps(found["bindings"], sort_keys=True), found.get("count", 1))


def without_text(found):
    """The text of an older line is told if it is still in memory."""
    return found and {**found, "line": found["line"] and found["line"]["line"]}


def expected(binary, folder, spec, lines, skip, *options):
    """What `watch` finds in lines from one on."""
    trace = folder / f"{spec.stem}.jsonl"
    trace.write_text("".join(line + "\n" for line in lines[skip:]))
    run = subprocess.run([binary, "watch", *options, "--output", "json", str(spec), str(trace)], capture_output=True, text=True)
    # With lines left out it is 2 in the end.
    if run.returncode not in (0, 1, 2 if options else 0):
        raise Difference(f"watch: exit {run.returncode}: {run.stderr[-2000:]}")
    found = []
    for line in run.stdout.splitlines():
        told = json.loads(line)
        if told.get("verdict") != "violated" or not told.get("settled"):
            continue
        own = told.get("violation") or {}
        found.append({"property": told["property"], "position": own.get("position", told["position"]),
                      "bindings": {**own.get("bindings", {}), **told.get("bindings", {})},
                      "count": max(1, told.get("violation_count", 1))})
    return found


def compare(what, ours, theirs):
    ours, theirs = sorted(map(key, ours)), sorted(map(key, theirs))
    if ours != theirs:
        missing = [one for one in theirs if one not in ours][:5]
        extra = [one for one in ours if one not in theirs][:5]
        raise Difference(f"{what}: {len(ours)} violations, expected {len(theirs)}; missing {missing}, too many {extra}")
    return len(ours)


def one_round(binary, folder, kills, seed):
    specs = folder / "specs"
    specs.mkdir(parents=True)
    for name, text in SPECS.items():
        (specs / f"{name}.tw").write_text(text)
    (folder / "config.toml").write_text('[server]\ncheckpoint = "20ms"\n[log]\nsegment = "300KB"\n')
    chance = random.Random(seed)
    server, clock = Server(binary, folder, seed), Clock()
    server.start()
    clients = [Client(server, f"c{number}", seed, clock) for number in range(3)]
    feed = Feed(server)
    for thread in [*clients, feed]:
        thread.start()
    late = chance.randrange(kills)
    for kill in range(kills):
        time.sleep(chance.choice([0.02, 0.1, 0.3, 0.6]) * chance.random() + 0.02)
        if kill == late:
            status, body = server.ask("PUT", "/v1/specs/late", LATE)
            if status != 200:
                raise Difference(f"PUT: {status} {body[:500]}")
            if chance.random() < 0.5:
                time.sleep(0.05 * chance.random())
        server.kill()
        server.start()
    time.sleep(0.2)
    for client in clients:
        client.over.set()
    for client in clients:
        client.join()
    lines = events(server)
    settle(server, len(lines))
    time.sleep(0.1)
    feed.over.set()
    found = violations(server)
    feed.join()
    server.process.send_signal(signal.SIGTERM)
    if server.process.wait() != 0:
        raise Difference(f"exit {server.process.returncode} after TERM")

    ids = [json.loads(line)["id"] for line in lines]
    places = {one: place for place, one in enumerate(ids)}
    if len(places) != len(ids):
        raise Difference("an event is in the log twice")
    for client in clients:
        lost = [one for one in client.acknowledged if one not in places]
        if lost:
            raise Difference(f"{len(lost)} acknowledged events of {client.name} are lost: {lost[:5]}")
        order = [places[one] for one in client.acknowledged]
        if order != sorted(order):
            raise Difference(f"the events of {client.name} are not in order")
    if len({one["id"] for one in found}) != len(found):
        raise Difference("two violations have one id")
    by_id = {one["id"]: one for one in found}
    unknown = [one for one in feed.heard.values() if without_text(by_id.get(one["id"])) != without_text(one)]
    if unknown:
        raise Difference(f"{len(unknown)} violations were told by the feed and are not kept: {unknown[:2]}")
    compared = 0
    for name in SPECS:
        own = [one for one in found if one["spec"] == name]
        compared += compare(name, own, [] if name == "elsewhere" else expected(binary, folder, specs / f"{name}.tw", lines, 0))
    # The first line of the late one is told by its violations: lines and positions differ by it.
    own = [one for one in found if one["spec"] == "late"]
    starts = {one["line"]["line"] - 1 - one["position"] for one in own if one["line"] and one["property"] == "late"}
    if len(starts) > 1:
        raise Difference(f"late begins at {starts}")
    if starts:
        compared += compare("late", own, expected(binary, folder, specs / "late.tw", lines, starts.pop()))
    acknowledged = sum(len(client.acknowledged) for client in clients)
    return len(lines), acknowledged, compared, len(feed.heard)


def damage(path, chance):
    """Damages the end of a file; says how."""
    bytes_ = bytearray(path.read_bytes())
    near = max(0, len(bytes_) - chance.choice([50, 2000, 40_000]))
    place = chance.randrange(near, len(bytes_))
    how = chance.choice(["cut", "changed", "rubbish", "zeros"])
    if how == "cut":
        del bytes_[place:]
    elif how == "changed":
        bytes_[place] ^= chance.randrange(1, 256)
    elif how == "rubbish":
        bytes_ += bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5000)))
    else:
        bytes_ += bytes(chance.randrange(1, 5000))
    path.write_bytes(bytes_)
    return how


def corrupt_round(binary, folder, seed):
    """A last segment that is damaged while the server is down, again and again."""
    specs = folder / "specs"
    specs.mkdir(parents=True)
    for name in ("plain", "keyed"):
        (specs / f"{name}.tw").write_text(SPECS[name])
    (folder / "config.toml").write_text('[server]\ncheckpoint = "20ms"\n[log]\nsegment = "200KB"\n')
    chance = random.Random(seed)
    server, client, now, cuts, lost = Server(binary, folder, seed), None, 1000.0, 0, 0
    client = Client(server, "c", seed, Clock())
    server.start()
    for _ in range(6):
        for _ in range(chance.randrange(5, 40)):
            now += chance.choice([0, 0.25, 1])
            rows = client.lines(chance.choice([1, 20, 100]))
            body = "".join(json.dumps({"time": now, **row}) + "\n" for row in rows)
            status, answer = server.ask("POST", "/v1/streams/main/events", body)
            if status != 200:
                raise Difference(f"status {status}: {answer[:300]}")
        before = events(server)
        settle(server, len(before))
        known = violations(server)
        keys, ids = {key(one) for one in known if one["spec"] == "plain"}, {one["id"] for one in known}
        server.kill()
        last = sorted((folder / "data/streams/main/log").iterdir())[-1]
        how = damage(last, chance)
        said = (folder / "said").stat().st_size
        server.start()
        after = events(server)
        if after != before[:len(after)]:
            raise Difference(f"{how}: what is left is not what was there first")
        told = (folder / "said").read_bytes()[said:].decode()
        if "goes on after line" not in told:
            raise Difference(f"{how}: nothing was said of it: {told[-500:]}")
        cuts, lost = cuts + 1, lost + len(before) - len(after)
        settle(server, len(after))
        # What was found before, in lines that are still there, has the id that it had.
        strange = [one for one in violations(server) if one["id"] not in ids and one["spec"] == "plain" and key(one) in keys]
        if strange:
            raise Difference(f"{how}: {len(strange)} had other ids: {strange[:2]}")
    lines = events(server)
    settle(server, len(lines))
    found = violations(server)
    server.process.send_signal(signal.SIGTERM)
    server.process.wait()
    if len({one["id"] for one in found}) != len(found):
        raise Difference("two violations have one id")
    # What was found in lines that are gone stays; all that is in those that are left is there.
    for name in ("plain", "keyed"):
        there = {key(one) for one in found if one["spec"] == name}
        missing = [one for one in expected(binary, folder, specs / f"{name}.tw", lines, 0) if key(one) not in there]
        if missing:
            raise Difference(f"{name}: {len(missing)} violations are missing: {missing[:5]}")
    return len(lines), cuts, lost, len(found)


def full_round(binary, folder, seed):
    """A disk that is full for a while."""
    specs = folder / "specs"
    specs.mkdir(parents=True)
    for name in ("plain", "keyed"):
        (specs / f"{name}.tw").write_text(SPECS[name])
    (folder / "config.toml").write_text('[server]\ncheckpoint = "20ms"\n')
    chance = random.Random(seed)
    server = Server(binary, folder, seed)
    largest, killed = chance.randrange(100_000, 400_000), False
    server.start(largest=largest)
    client = Client(server, "c", seed, Clock())
    now, acknowledged, promised, refused, lifted = 1000.0, [], [], 0, False
    while refused < 40 or not lifted or chance.random() < 0.98:
        rows = client.lines(chance.choice([1, 20, 100]))
        now += chance.choice([0, 0.25, 1])
        memory = chance.random() < 0.2
        body = "".join(json.dumps({"time": now, **row}) + "\n" for row in rows)
        status, answer = server.ask("POST", "/v1/streams/main/events" + ("?ack=memory" if memory else ""), body)
        if status == 503:
            refused += 1
            if refused == 20:
                ready, _ = server.ask("GET", "/readyz")
                if ready != 503:
                    raise Difference(f"/readyz says {ready} though the disk is full")
            if refused == 30 and not killed:
                killed = True
                # What was promised from memory alone may go with it.
                server.kill()
                promised.clear()
                server.start(largest=largest)
            if refused == 40 and not lifted:
                resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                lifted = True
        elif status == 200:
            acknowledged += [row["id"] for row in rows]
        elif status == 202:
            promised += [row["id"] for row in rows]
        else:
            raise Difference(f"status {status}: {answer[:300]}")
    server.ask("POST", "/v1/streams/main/events", json.dumps({"time": now, "event": "tick", "user": "u", "n": 1, "id": "last"}))
    lines = events(server)
    settle(server, len(lines))
    found = violations(server)
    server.process.send_signal(signal.SIGTERM)
    server.process.wait()
    ids = [json.loads(line)["id"] for line in lines]
    if len(set(ids)) != len(ids):
        raise Difference("an event is in the log twice")
    lost = [one for one in acknowledged + promised if one not in set(ids)]
    if lost:
        raise Difference(f"{len(lost)} acknowledged events are lost: {lost[:5]}")
    compared = 0
    for name in ("plain", "keyed"):
        own = [one for one in found if one["spec"] == name]
        compared += compare(name, own, expected(binary, folder, specs / f"{name}.tw", lines, 0))
    return len(lines), len(acknowledged), len(promised), refused, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--full", type=int, default=0)
    parser.add_argument("--corrupt", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    binary = str(Path(options.binary).resolve())
    rounds = min(options.kills, options.rounds or max(1, options.kills // 20))
    base = Path(tempfile.mkdtemp(prefix="tracewise-server-kills-"))
    print(f"seed {options.seed}, {options.kills} kills in {rounds} rounds", flush=True)
    done, failed = 0, False
    for number in range(rounds):
        folder = base / str(number)
        kills = options.kills // rounds + (number < options.kills % rounds)
        try:
            lines, acknowledged, compared, heard = one_round(binary, folder, kills, f"{options.seed}/{number}")
        except Difference as difference:
            print(f"round {number}: {difference}\n  kept in {folder}", flush=True)
            failed = True
            continue
        done += kills
        print(f"round {number}: {kills} kills, {lines} events ({acknowledged} acknowledged from disk), {compared} violations "
              f"compared, {heard} heard by the feed", flush=True)
        if not options.keep:
            shutil.rmtree(folder)
    for number in range(options.full):
        folder = base / f"full-{number}"
        try:
            lines, acknowledged, promised, refused, compared = full_round(binary, folder, f"{options.seed}/full/{number}")
        except Difference as difference:
            print(f"full disk {number}: {difference}\n  kept in {folder}", flush=True)
            failed = True
            continue
        print(f"full disk {number}: {refused} refused, {lines} events ({acknowledged} acknowledged from disk, {promised} from memory), "
              f"{compared} violations compared", flush=True)
        if not options.keep:
            shutil.rmtree(folder)
    for number in range(options.corrupt):
        folder = base / f"corrupt-{number}"
        try:
            lines, cuts, lost, found = corrupt_round(binary, folder, f"{options.seed}/corrupt/{number}")
        except Difference as difference:
            print(f"damaged segment {number}: {difference}\n  kept in {folder}", flush=True)
            failed = True
            continue
        print(f"damaged segment {number}: {cuts} times, {lost} events cut off, {lines} left, {found} violations", flush=True)
        if not options.keep:
            shutil.rmtree(folder)
    print(f"{done} kills without a difference; load {os.getloadavg()[0]:.1f}")
    if not options.keep and not failed:
        shutil.rmtree(base)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
