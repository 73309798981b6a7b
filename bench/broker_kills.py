#!/usr/bin/env python3
"""Kills a server that reads from a broker, at random moments, under load: nothing is lost, and where the broker counts, nothing repeated.

    bench/broker_kills.py BINARY --broker nats|redis|mqtt [--kills 50] [--rounds N] [--seed N] [--keep]

Each round starts the broker's own program and `tracewise serve` with a source, on a new folder. Somebody publishes numbered events; after
a random time the server gets SIGKILL, and another one goes on where it was. Once in a round the broker itself is killed and started
again. At the end:

- every event that the broker acknowledged is in the log: NATS and Redis once and in their order, MQTT at least once, first ones in order;
- the violations of each specification are those that `tracewise watch` finds in one unbroken run, each once.

Exit code 1 on a difference, whose folder is kept and named.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from server_kills import SPECS, Difference, Server, compare, events, expected, settle, violations

PROGRAMS = {"nats": "nats-server", "redis": "redis-server", "mqtt": "mosquitto"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Link:
    """A connection to a broker."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")

    def send(self, text):
        self.socket.sendall(text)

    def line(self):
        return self.heard(self.file.readline())

    def bytes(self, count):
        return self.heard(self.file.read(count))

    def heard(self, text):
        if not text:
            raise OSError("the broker is gone")
        return text

    def close(self):
        self.file.close()
        self.socket.close()


class Broker:
    """A broker's program, on a folder and a port of its own."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        folder.mkdir()

    def start(self):
        log = open(self.folder / "log", "ab")
        path = os.environ["PATH"] + ":/usr/sbin"
        self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder, env={**os.environ, "PATH": path})
        for _ in range(400):
            try:
                self.connect().close()
                return
            except (OSError, ValueError):
                time.sleep(0.05)
        raise Difference(f"the broker does not start: {(self.folder / 'log').read_text()[-1000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self):
        link = Link(self.port)
        self.greet(link)
        return link


class Nats(Broker):
    source = 'kind = "nats"\nurl = "nats://127.0.0.1:{port}"\nstream = "EVENTS"\nsubject = "events.>"\n'

    def command(self):
        return ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder / "store")]

    def greet(self, link):
        link.line()
        link.send(b'CONNECT {"verbose":false,"headers":true}\r\nSUB answers 1\r\n')
        settings = json.dumps({"name": "EVENTS", "subjects": ["events.>"]}).encode()
        link.send(b"PUB $JS.API.STREAM.CREATE.EVENTS answers %d\r\n%s\r\n" % (len(settings), settings))
        self.answer(link)

    def answer(self, link):
        while True:
            line = link.line()
            if line.startswith(b"-ERR"):
                raise ValueError(line)
            # Without JetStream, while it starts, nobody answers: a message with headers says so.
            if line.startswith(b"HMSG "):
                raise ValueError(line)
            if line.startswith(b"MSG "):
                answer = json.loads(link.bytes(int(line.split()[-1]) + 2))
                if "error" in answer and "already in use" not in answer["error"]["description"]:
                    raise ValueError(answer)
                return

    def publish(self, link, first, messages):
        text = b""
        for number, message in enumerate(messages, first):
            # Published twice, it is stored once.
            head = b"NATS/1.0\r\nNats-Msg-Id: %d\r\n\r\n" % number
            text += b"HPUB events.a answers %d %d\r\n%s%s\r\n" % (len(head), len(head) + len(message), head, message)
        link.send(text)
        for _ in messages:
            self.answer(link)


class Redis(Broker):
    source = 'kind = "redis"\nurl = "redis://127.0.0.1:{port}"\nkey = "events"\n'

    def command(self):
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "yes",
                "--appendfsync", "always"]

    def greet(self, link):
        link.send(b"PING\r\n")
        if link.line() != b"+PONG\r\n":
            raise ValueError("it is loading")

    def publish(self, link, first, messages):
        text = b""
        for number, message in enumerate(messages, first + 1):
            # Published twice, the second is refused.
            number = b"%d-0" % number
            text += b"*5\r\n$4\r\nXADD\r\n$6\r\nevents\r\n$%d\r\n%s\r\n$4\r\ndata\r\n$%d\r\n%s\r\n" % (
                len(number), number, len(message), message)
        link.send(text)
        for _ in messages:
            line = link.line()
            if line.startswith(b"$"):
                link.line()
            elif b"equal or smaller" not in line:
                raise ValueError(line)


class Mqtt(Broker):
    source = 'kind = "mqtt"\nurl = "mqtt://127.0.0.1:{port}"\ntopic = "events/#"\n'

    def command(self):
        settings = (f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\npersistence true\n"
                    f"persistence_location {self.folder}/\nmax_queued_messages 0\nmax_inflight_messages 200\n")
        (self.folder / "settings").write_text(settings)
        return ["mosquitto", "-c", str(self.folder / "settings")]

    def kill(self):
        # It writes down what it holds every half an hour, and when it ends.
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def greet(self, link):
        link.send(b"\x10\x13\0\x04MQTT\x04\x02\0\x3c\0\x07pub-one")
        if link.bytes(4) != b"\x20\2\0\0":
            raise ValueError("it does not let in")

    def publish(self, link, first, messages):
        for at in range(0, len(messages), 100):
            block, text = messages[at:at + 100], b""
            for number, message in enumerate(block, 1):
                rest = b"\0\x08events/a" + number.to_bytes(2, "big") + message
                text += b"\x32" + bytes([len(rest) % 128 | 128, len(rest) // 128]) + rest
            link.send(text)
            for _ in block:
                if link.bytes(4)[:1] != b"\x40":
                    raise ValueError("no acknowledgement")


class Publisher(threading.Thread):
    """Publishes numbered events, each until it is acknowledged."""

    def __init__(self, broker, seed):
        super().__init__(daemon=True)
        self.broker, self.random, self.lines = broker, random.Random(f"{seed}/publisher"), []
        self.over, self.quiet, self.failed = threading.Event(), threading.Lock(), None

    def rows(self, count):
        now = self.now = getattr(self, "now", 1000.0) + self.random.choice([0, 0, 0.25, 1])
        for _ in range(count):
            event = self.random.choice(["req", "req", "ack", "tick"])
            # Longer than 127 bytes, for the lengths of MQTT.
            yield json.dumps({"time": now, "event": event, "user": f"u{self.random.randrange(9)}", "n": self.random.randrange(1000),
                              "id": f"event-{self.count}-{self.random.randrange(1 << 30)}", "pad": "x" * 40})
            self.count += 1

    def run(self):
        link, self.count = None, 0
        try:
            while not self.over.is_set():
                rows = list(self.rows(self.random.choice([1, 5, 40, 100])))
                first = len(self.lines)
                while True:
                    with self.quiet:
                        try:
                            link = link or self.broker.connect()
                            self.broker.publish(link, first, [row.encode() for row in rows])
                            break
                        except (OSError, ValueError):
                            link = None
                    time.sleep(0.05)
                self.lines += rows
                time.sleep(self.random.choice([0, 0.005, 0.02]))
        except Exception as why:
            self.failed = why


def one_round(binary, kind, folder, kills, seed):
    specs = folder / "specs"
    specs.mkdir(parents=True)
    for name, text in SPECS.items():
        (specs / f"{name}.tw").write_text(text)
    broker = {"nats": Nats, "redis": Redis, "mqtt": Mqtt}[kind](folder / "broker")
    broker.start()
    source = "[[source]]\nname = \"in\"\ninto = \"main\"\n" + broker.source.format(port=broker.port)
    (folder / "config.toml").write_text(f'[server]\ncheckpoint = "20ms"\n[log]\nsegment = "300KB"\n{source}')
    chance = random.Random(seed)
    server = Server(binary, folder, seed)
    server.start()
    try:
        connected(server)
        publisher = Publisher(broker, seed)
        publisher.start()
        down = chance.randrange(kills)
        for kill in range(kills):
            time.sleep(chance.choice([0.02, 0.1, 0.3, 0.6, 1.5]) * chance.random() + 0.02)
            if kill == down:
                # What a broker has acknowledged and not written down yet is its own affair.
                with publisher.quiet:
                    time.sleep(0.5)
                    broker.kill()
                    time.sleep(0.3 * chance.random())
                    broker.start()
            server.kill()
            server.start()
        publisher.over.set()
        publisher.join()
        if publisher.failed:
            raise Difference(f"publishing: {publisher.failed!r}")
        published = publisher.lines
        lines = arrived(server, published)
        settle(server, len(lines))
        found = violations(server)
        server.process.send_signal(signal.SIGTERM)
        if server.process.wait() != 0:
            raise Difference(f"exit {server.process.returncode} after TERM")
    finally:
        server.process.kill()
        broker.process.kill()
    repeated = len(lines) - len(set(lines))
    first = list(dict.fromkeys(lines)) if kind == "mqtt" else lines
    if first != published:
        missing = sorted(set(published) - set(lines))
        at = next((at for at, pair in enumerate(zip(first, published)) if pair[0] != pair[1]), min(len(first), len(published)))
        raise Difference(f"{len(published)} published, {len(lines)} in the log, {repeated} of them again, {len(missing)} missing "
                         f"({missing[:3]}), different from line {at + 1} on")
    if len({one["id"] for one in found}) != len(found):
        raise Difference("two violations have one id")
    compared = 0
    # What MQTT repeats is earlier than what stands before it: the server leaves such lines out where time is measured, and so does an
    # unbroken run over the same lines.
    options = ["--skip-bad-lines"] if kind == "mqtt" else []
    for name in SPECS:
        own = [one for one in found if one["spec"] == name]
        theirs = [] if name == "elsewhere" else expected(binary, folder, specs / f"{name}.tw", lines, 0, *options)
        compared += compare(name, own, theirs)
    return len(published), repeated, compared


def connected(server):
    """Waits until the source is there: what is published before is no business of MQTT's."""
    for _ in range(400):
        _, body = server.ask("GET", "/v1/sources")
        if json.loads(body)["sources"][0]["connected"]:
            return
        time.sleep(0.05)
    raise Difference(f"the source does not connect: {body}")


def arrived(server, published):
    """The log, once the last event is in it and nothing more comes."""
    lines, until = [], time.monotonic() + 60
    while time.monotonic() < until:
        before, lines = len(lines), events(server)
        if len(lines) == before and set(published[-100:]) <= set(lines):
            return lines
        time.sleep(0.3)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--broker", choices=sorted(PROGRAMS), action="append")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    binary = str(Path(options.binary).resolve())
    rounds = min(options.kills, options.rounds or max(1, options.kills // 25))
    base = Path(tempfile.mkdtemp(prefix="tracewise-broker-kills-"))
    failed = False
    for kind in options.broker or sorted(PROGRAMS):
        if not shutil.which(PROGRAMS[kind], path=os.environ["PATH"] + ":/usr/sbin"):
            print(f"{PROGRAMS[kind]} is not installed; {kind} is left out", flush=True)
            failed |= os.environ.get("CI") == "true"
            continue
        print(f"{kind}: seed {options.seed}, {options.kills} kills in {rounds} rounds", flush=True)
        began = time.monotonic()
        for number in range(rounds):
            folder = base / f"{kind}-{number}"
            kills = options.kills // rounds + (number < options.kills % rounds)
            try:
                published, repeated, compared = one_round(binary, kind, folder, kills, f"{options.seed}/{kind}/{number}")
            except Difference as difference:
                print(f"round {number}: {difference}\n  kept in {folder}", flush=True)
                failed = True
                continue
            print(f"round {number}: {kills} kills, {published} events published, none lost, {repeated} repeated, {compared} violations "
                  f"compared", flush=True)
            if not options.keep:
                shutil.rmtree(folder)
        print(f"{kind}: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    if not options.keep and not failed:
        shutil.rmtree(base)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
