#!/usr/bin/env python3
"""The server under load: events per second and core, and the time from a POST to its verdict on the feed.

    bench/server.py BINARY [--seconds 5] [--only ingest,flow,durable,otlp,latency,keys] [--keys 100000]
    bench/server.py BINARY --soak 1e8 [--keys 100000]     # memory over so many events, 20 properties and so many live keys

Ten LTL properties over lines of 184 bytes, of which one in twenty violates one; every violation is told, a feed listens. Clients
are processes of their own, with connections that are kept. What is counted is the CPU time of the server (`/proc/PID/stat`,
user and system), so that the figures are those of a core, whoever else uses the machine; its load is printed beside them.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROPERTIES = """
property p1 : G (kind == "open" -> X (kind != "open"));
property p2 : G (kind == "close" -> O kind == "open");
property p3 : G (status < 500);
property p4 : G (kind == "error" -> Y kind != "error");
property p5 : G (kind == "open" -> (kind != "error") W kind == "close");
property p6 : G (size >= 0);
property p7 : G ((kind == "write") -> !(kind == "close") S kind == "open" | O kind == "open");
property p8 : G (size > 900 -> status < 300);
property p9 : G (ok -> status < 400);
property p10 : G (kind == "close" -> Y (kind == "write" | kind == "open" | kind == "close"));
"""
TICK = os.sysconf("SC_CLK_TCK")


def line(number, bad):
    kind = ["open", "write", "write", "close"][number % 4]
    row = {"time": 1000 + number, "kind": kind, "status": 503 if bad else 200, "size": number % 900, "ok": not bad,
           "path": f"/api/v1/things/{number % 97:04d}", "user": f"user-{number % 1000:06d}"}
    text = json.dumps(row)
    return text[:-1] + ', "pad": "' + "x" * (183 - len(text) - 11) + '"}\n'


def body(lines, start=0):
    return "".join(line(start + number, number % 20 == 7) for number in range(lines)).encode()


class Server:
    def __init__(self, binary, specs, config=""):
        self.folder = tempfile.TemporaryDirectory(prefix="tracewise-server-bench-", dir=os.environ.get("BENCH_DIR"))
        folder = Path(self.folder.name)
        (folder / "specs").mkdir()
        for name, text in specs.items():
            (folder / "specs" / f"{name}.tw").write_text(text)
        (folder / "config.toml").write_text(config)
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", str(folder / "data"),
                   "--specs", str(folder / "specs"), "--config", str(folder / "config.toml")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline().decode().strip())[1])

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def behind(self):
        return sum(stream["behind"] for stream in self.ask("/v1/streams")["streams"])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.folder.cleanup()


def request(payload, query=""):
    head = f"POST /v1/streams/bench/events{query} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(payload)}\r\n\r\n"
    return head.encode() + payload


def answered(connection):
    """Reads one answer; its status."""
    text = connection.recv(4096)
    while b"\r\n\r\n" not in text:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionError("the server has let go")
        text += piece
    head, rest = text.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"content-length: (\d+)", head)[1])
    while len(rest) < length:
        rest += connection.recv(4096)
    return int(head[9:12])


def client(port, payloads, seconds, count, refused):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    until, sent, away = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        connection.sendall(payloads[(sent + away) % len(payloads)])
        if answered(connection) in (200, 202):
            sent += 1
        else:
            away += 1
            time.sleep(0.05)
    with count.get_lock():
        count.value += sent
    with refused.get_lock():
        refused.value += away


def listen(port, over, heard):
    """A feed that is read and counted."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(0.2)
        connection.sendall(b"GET /v1/feed HTTP/1.1\r\nHost: x\r\n\r\n")
        while not over.is_set():
            try:
                heard.value += connection.recv(1 << 20).count(b"event: violation")
            except TimeoutError:
                pass


def posted(binary, spec, payloads, each, clients, query, seconds):
    """POSTs by clients that keep their connections; `each` is how many events one of them has."""
    server = Server(binary, {"ten": spec})
    over, heard = multiprocessing.Event(), multiprocessing.Value("q", 0)
    feed = multiprocessing.Process(target=listen, args=(server.port, over, heard))
    feed.start()
    count, refused = multiprocessing.Value("q", 0), multiprocessing.Value("q", 0)
    before, began = server.cpu(), time.monotonic()
    workers = [multiprocessing.Process(target=client, args=(server.port, payloads, seconds, count, refused)) for _ in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    while server.behind():
        time.sleep(0.02)
    wall = time.monotonic() - began
    cpu, memory = server.cpu() - before, server.memory()
    over.set()
    feed.join()
    server.stop()
    events = count.value * each
    print(f"| {each} | {clients} | {'memory' if query else 'disk'} | {events / cpu / 1e3:,.0f} k | {events / wall / 1e3:,.0f} k "
          f"| {heard.value / max(1, events):.3f} | {memory:.0f} MB | {refused.value} | {os.getloadavg()[0]:.1f} |", flush=True)


def ingest(binary, lines, clients, query, seconds):
    payloads = [request(body(lines, start), query) for start in range(0, max(lines, 1000), lines)]
    posted(binary, PROPERTIES, payloads, lines, clients, query, seconds)


def flowing(port, pieces, seconds, query, count):
    """One body that goes on for all that time; its answer says what was taken."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"POST /v1/streams/bench/events/flow{query} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    until, sent = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        connection.sendall(pieces[sent % len(pieces)])
        sent += 1
    connection.sendall(b"0\r\n\r\n")
    told = b""
    while b'"taken":' not in told:
        told += connection.recv(4096)
    count.value += int(re.search(rb'"taken":(\d+)', told)[1])


def speaking(port, payloads, lines, seconds, query, count):
    """Messages over a WebSocket, many before the first is answered."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET /v1/streams/bench/events/ws{query} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                       "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    told = b""
    while b"\r\n\r\n" not in told:
        told += connection.recv(1)
    size = lambda payload: len(payload).to_bytes(2, "big") if len(payload) < 1 << 16 else len(payload).to_bytes(8, "big")
    frame = lambda payload: bytes([0x82, 0xfe if len(payload) < 1 << 16 else 0xff]) + size(payload) + bytes(4) + payload
    together = max(1, 100 // lines)
    frames = [b"".join(frame(payload) for payload in payloads[at:at + together]) for at in range(0, len(payloads), together)]
    until, sent, answered_, open_ = time.monotonic() + seconds, 0, 0, b""
    while time.monotonic() < until or answered_ < sent:
        if time.monotonic() < until and sent - answered_ <= 2 * together:
            connection.sendall(frames[sent // together % len(frames)])
            sent += together
            continue
        open_ += connection.recv(1 << 16)
        answered_ += open_.count(b'"taken":')
        open_ = open_[max(open_.rfind(b'"taken":') + 8, 0):] if b'"taken":' in open_ else open_[-8:]
    count.value += answered_ * lines


def flow(binary, what, lines, query, seconds):
    """A flow of lines, by a body that goes on or by messages."""
    server = Server(binary, {"ten": PROPERTIES})
    over, heard = multiprocessing.Event(), multiprocessing.Value("q", 0)
    feed = multiprocessing.Process(target=listen, args=(server.port, over, heard))
    feed.start()
    payloads = [body(lines, start) for start in range(0, max(lines, 1000), lines)]
    count = multiprocessing.Value("q", 0)
    before, began = server.cpu(), time.monotonic()
    if what == "body":
        # What a program writes line by line leaves it in pieces of a buffer's size.
        pieces = [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in
                  (b"".join(payloads)[at:at + 8000] for at in range(0, len(b"".join(payloads)), 8000))]
        sender = multiprocessing.Process(target=flowing, args=(server.port, pieces, seconds, query, count))
    else:
        sender = multiprocessing.Process(target=speaking, args=(server.port, payloads, lines, seconds, query, count))
    sender.start()
    sender.join()
    while server.behind():
        time.sleep(0.02)
    wall, cpu, memory = time.monotonic() - began, server.cpu() - before, server.memory()
    over.set()
    feed.join()
    server.stop()
    print(f"| {what} | {'8 kB' if what == 'body' else lines} | {'memory' if query else 'disk'} | {count.value / cpu / 1e3:,.0f} k "
          f"| {count.value / wall / 1e3:,.0f} k | {heard.value / max(1, count.value):.3f} | {memory:.0f} MB | {os.getloadavg()[0]:.1f} |", flush=True)


OTLP = """
property o1 : G (event span_end -> duration < 0.9);
property o2 : G (event span_end -> status != "error");
property o3 : G (event span_start -> F event span_end);
property o4 : G (event span_end -> O event span_start);
property o5 : G (name == "charge" -> service == "shop");
property o6 : G (attributes.http.status < 600);
property o7 : G (event span_end & attributes.http.status >= 500 -> status == "error");
property o8 : G (event span_start -> X (event span_start | event span_end));
property o9 : G (kind == "server" -> attributes.http.method == "GET" | attributes.http.method == "POST");
property o10 : G (event span_end -> duration >= 0);
"""


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(key, kind, value):
    value = field(1, value) if kind == "text" else varint(3 << 3) + varint(value)
    return field(9, field(1, key.encode()) + field(2, value))


def span(number):
    """Like those of a web service: five attributes."""
    start = 1_700_000_000_000_000_000 + number * 1_000_000
    bad = number % 20 == 7
    return field(2, b"".join([
        field(1, number.to_bytes(16, "big")), field(2, number.to_bytes(8, "big")), field(4, (number // 8).to_bytes(8, "big")),
        field(5, b"charge"), varint(6 << 3) + b"\x02",
        varint(7 << 3 | 1) + start.to_bytes(8, "little"), varint(8 << 3 | 1) + (start + 250_000 + 1000 * (number % 97)).to_bytes(8, "little"),
        attribute("http.method", "text", b"GET"), attribute("http.path", "text", f"/api/v1/things/{number % 97:04d}".encode()),
        attribute("http.status", "number", 503 if bad else 200), attribute("net.peer.name", "text", b"gateway-3.internal"),
        attribute("user.id", "text", f"user-{number % 1000:06d}".encode()),
        field(15, varint(3 << 3) + (b"\x02" if bad else b"\x01")),
    ]))


def export(spans, start=0):
    resource = field(1, field(1, field(1, b"service.name") + field(2, field(1, b"shop"))))
    return field(1, resource + field(2, b"".join(span(start + number) for number in range(spans))))


def exported(path, payload, query):
    head = f"POST {path}{query} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: {len(payload)}\r\n\r\n"
    return head.encode() + payload


def otlp(binary, spans, clients, query, seconds):
    """Spans over HTTP, in protobuf: two lines each, ten properties over them."""
    payloads = [exported("/v1/traces", export(spans, start), query) for start in range(0, max(spans, 1024), spans)]
    posted(binary, OTLP, payloads, spans, clients, query, seconds)


def latency(binary, lines, seconds):
    """From the first byte of a POST to the violation of its last line on the feed."""
    server = Server(binary, {"ten": PROPERTIES})
    feed = socket.create_connection(("127.0.0.1", server.port))
    feed.sendall(b"GET /v1/feed HTTP/1.1\r\nHost: x\r\n\r\n")
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    time.sleep(0.3)
    feed.recv(1 << 16)
    good = "".join(line(number, False) for number in range(lines - 1))
    payload = request((good + line(lines - 1, True)).encode(), "?ack=memory")
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        connection.sendall(payload)
        told = b""
        while b"p3" not in told:
            told += feed.recv(1 << 16)
        times.append(time.perf_counter() - began)
        answered(connection)
        time.sleep(0.002)
        feed.setblocking(False)
        try:
            while feed.recv(1 << 16):
                pass
        except BlockingIOError:
            pass
        feed.setblocking(True)
    server.stop()
    times.sort()
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))] * 1e3
    print(f"| {lines} | {len(times)} | {at(0.5):.2f} ms | {at(0.99):.2f} ms | {times[-1] * 1e3:.2f} ms | {os.getloadavg()[0]:.1f} |", flush=True)


def keys(binary, keys, seconds):
    """Memory over time with many live keys."""
    text = 'trace { by: user; }\n' + "".join(
        f'property k{n} : G (kind == "open" -> F kind == "close{n}");\n' for n in range(20))
    server = Server(binary, {"keyed": text}, '[log]\nsize = "200MB"\n')
    connection = socket.create_connection(("127.0.0.1", server.port))
    rows, sent, round_ = 1000, 0, 0
    until, began, shown = time.monotonic() + seconds, time.monotonic(), 0
    before = server.cpu()
    while time.monotonic() < until:
        first = sent % keys
        payload = "".join(
            f'{{"time": {1000 + sent // 1000}, "kind": "{"open" if sent // keys % 2 == 0 else "write"}", "user": "user-{(first + n) % keys:07d}"}}\n'
            for n in range(rows))
        connection.sendall(request(payload.encode(), "?ack=memory"))
        status = answered(connection)
        if status in (200, 202):
            sent += rows
        else:
            time.sleep(0.05)
        if time.monotonic() - began > shown * seconds / 8:
            shown += 1
            print(f"| {sent:,} | {min(sent, keys):,} | {server.memory():.0f} MB | {server.behind():,} |", flush=True)
    while server.behind():
        time.sleep(0.05)
    print(f"| {sent:,} | {min(sent, keys):,} | {server.memory():.0f} MB | 0 | {sent / (server.cpu() - before) / 1e3:,.0f} k events/s/core", flush=True)
    server.stop()


SOAK = "trace { by: user; }\n" + "".join(
    f'property owed{n} : G (kind == "open" & size != {n} -> F kind == "close");\n' for n in range(10)) + "".join(
    f'property next{n} : G (kind == "open" -> X size != {n});\n' for n in range(9)) + "property limit : G (size < 999);\n"


def soak(binary, events, keys):
    """Memory while many events come: it is what it was at a fifth of the way, and the log is no larger than it may be."""
    largest = 200_000_000
    server = Server(binary, {"soak": SOAK}, f'[server]\nmemory = "2GB"\n[log]\nsize = "{largest // 1_000_000}MB"\nsegment = "16MB"\n[violations]\nsize = "100MB"\nsegment = "16MB"\n')
    connection = socket.create_connection(("127.0.0.1", server.port))
    rows, sent, shown, seen = 1000, 0, 0, []
    before, began = server.cpu(), time.monotonic()
    kinds = ["open", "write", "close", "write"]
    while sent < events:
        first, round_ = sent % keys, sent // keys
        payload = "".join(
            f'{{"time": {1000 + sent // 5000}, "kind": "{kinds[(round_ + n) % 4]}", "size": {(sent + 7 * n) % 1000}, "user": "user-{(first + n) % keys:07d}"}}\n'
            for n in range(rows))
        connection.sendall(request(payload.encode(), "?ack=memory"))
        if answered(connection) in (200, 202):
            sent += rows
        else:
            time.sleep(0.05)
        if sent * 20 >= (shown + 1) * events:
            shown += 1
            while server.behind():
                time.sleep(0.05)
            # The one before may have been idle for longer than the server has patience.
            connection = socket.create_connection(("127.0.0.1", server.port))
            seen.append(server.memory())
            log = sum(path.stat().st_size for path in Path(server.folder.name).glob("data/streams/*/log/*"))
            cpu = server.cpu() - before
            print(f"| {sent:,} | {min(sent, keys):,} | {seen[-1]:.0f} MB | {log / 1e6:.0f} MB | {sent / cpu / 1e3:,.0f} k | {time.monotonic() - began:.0f} s |", flush=True)
            # What is not in a state yet is kept whatever it takes.
            if log > 2 * largest:
                raise SystemExit(f"the log holds {log} bytes, {largest} are kept")
    states = [own["state"] for own in server.ask("/v1/properties")["properties"]]
    found = server.ask("/v1/violations?limit=1")["end"]
    server.stop()
    print(f"{found:,} violations; { {one: states.count(one) for one in sorted(set(states))} }")
    if len(states) != 20 or "stopped" in states:
        raise SystemExit(f"20 properties were to be judged: {states}")
    fifth, rest = max(seen[:4]), max(seen[4:])
    print(f"at most {fifth:.0f} MB in the first fifth, {rest:.0f} MB after it: {rest / fifth:.2f}; load {os.getloadavg()[0]:.1f}")
    if rest > 1.15 * fifth:
        raise SystemExit("memory grows")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", default="ingest,flow,durable,otlp,latency")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--soak", type=float, metavar="EVENTS")
    options = parser.parse_args()
    if options.soak:
        print("| events | keys | memory | log | events/s/core | after |\n|---|---|---|---|---|---|")
        soak(options.binary, int(options.soak), options.keys)
        return
    only = options.only.split(",")
    print(f"{len(line(1, False))} bytes a line, load {os.getloadavg()[0]:.1f}")
    table = "| lines per POST | clients | acknowledged from | events/s/core | events/s | violations told per event | memory | turned away | load |\n" + "|---" * 9 + "|"
    if "ingest" in only:
        print(table)
        for lines, clients in [(1, 4), (100, 2), (10_000, 1)]:
            ingest(options.binary, lines, clients, "?ack=memory", options.seconds)
    if "flow" in only:
        print("| flow | lines per message | acknowledged from | events/s/core | events/s | violations told per event | memory | load |\n" + "|---" * 8 + "|")
        for what, lines, query in [("body", 1000, "?ack=memory"), ("body", 1000, ""), ("messages", 1, "?ack=memory"),
                                   ("messages", 100, "?ack=memory"), ("messages", 100, "")]:
            flow(options.binary, what, lines, query, options.seconds)
    if "otlp" in only:
        print(table.replace("lines per POST", "spans per POST").replace("events/s", "spans/s").replace("per event", "per span"))
        for query in ("?ack=memory", ""):
            otlp(options.binary, 512, 4, query, options.seconds)
    if "durable" in only:
        print(table)
        for lines, clients in [(1, 10), (100, 10)]:
            ingest(options.binary, lines, clients, "", options.seconds)
    if "latency" in only:
        print("| lines per POST | POSTs | p50 | p99 | longest | load |\n|---|---|---|---|---|---|")
        for lines in (1, 100):
            latency(options.binary, lines, options.seconds)
    if "keys" in only:
        print("| events | keys | memory | behind |\n|---|---|---|---|")
        keys(options.binary, options.keys, options.seconds)


if __name__ == "__main__":
    main()
