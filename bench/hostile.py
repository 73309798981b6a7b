#!/usr/bin/env python3
"""Clients that mean harm: the server must not end, must not grow, and must go on serving others.

    bench/hostile.py BINARY [--connections 10000] [--memory 700] [--only slow_heads,bombs] [--rounds 3]

Each attack is followed by a look at the server: it lives, a client with a token is served, and what it holds (`VmRSS`, and the most it
ever held, `VmHWM`) is below a bound. In the end its folder holds nothing that it should not. Exit code 1 if one of these fails.
"""

import argparse
import base64
import gzip
import http.client
import json
import os
import random
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

PATIENCE = 2
CONFIG = f"""
[server]
tokens = "FOLDER/tokens"
memory = "64MB"
[limits]
patience = "{PATIENCE}s"
body = "16MB"
unpacked = "64MB"
bodies = "192MB"
line = "1MB"
streams = 32
guesses = 20
"""
SPEC = "property ok : G (status < 500);\nproperty known : G forall i. response(id: i) -> O request(id: i);\n"


class Fault(Exception):
    """What was found."""


class Server:
    def __init__(self, binary, folder):
        self.folder = folder
        (folder / "data/specs").mkdir(parents=True)
        (folder / "data/specs/own.tw").write_text(SPEC)
        (folder / "outside.tw").write_text("property secret : G true;\n")
        (folder / "config.toml").write_text(CONFIG.replace("FOLDER", str(folder)))
        made = subprocess.run([binary, "serve", "--tokens", str(folder / "tokens"), "--new-token", "own", "--rights",
                               "read,write,administer"], capture_output=True, text=True, check=True)
        self.token = made.stdout.strip()
        self.errors = open(folder / "said", "wb")
        self.process = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", str(folder / "data"), "--config",
                                         str(folder / "config.toml")], stdout=subprocess.PIPE, stderr=self.errors)
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline().decode().strip())[1])

    def held(self):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return [int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024 for name in ("VmRSS", "VmHWM")]

    def head(self, method, path, headers="", token=None):
        return (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token or self.token}\r\n{headers}\r\n").encode()

    def post(self, body, headers="", length=None, stream="web"):
        length = len(body) if length is None else length
        return self.head("POST", f"/v1/streams/{stream}/events", f"Content-Length: {length}\r\n{headers}") + body

    def connect(self, source="127.0.0.1", timeout=PATIENCE + 8):
        return socket.create_connection(("127.0.0.1", self.port), timeout, source_address=(source, 0))

    def ask(self, request, source="127.0.0.1"):
        """The status of the answer; 0 if the connection ends without one."""
        with self.connect(source) as connection:
            try:
                connection.sendall(request)
            except OSError:
                pass  # It may have answered before all was sent.
            try:
                answer = connection.recv(1 << 16)
            except OSError:
                return 0
            found = re.match(rb"HTTP/1\.[01] (\d+)", answer)
            return int(found[1]) if found else 0

    def serves(self, source):
        """A good client is served, within a moment."""
        until = time.monotonic() + 30
        while True:
            if self.process.poll() is not None:
                raise Fault(f"the server ended with {self.process.returncode}")
            try:
                if self.ask(self.post(b'{"event": "request", "id": "a"}\n'), source) == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > until:
                raise Fault("a good client is not served")
            time.sleep(0.1)


def many(server, count, request=b""):
    """Connections that have sent something; those that could be made."""
    connections = []
    for _ in range(count):
        try:
            connection = server.connect(timeout=1)
            connection.sendall(request)
            connections.append(connection)
        except OSError:
            pass
    return connections


def dribble(connections, piece, seconds):
    until, told = time.monotonic() + seconds, 0
    for connection in connections:
        connection.setblocking(False)
    while connections and time.monotonic() < until:
        for connection in list(connections):
            try:
                connection.send(piece)
            except BlockingIOError:
                pass
            except OSError:
                connections.remove(connection)
                told += 1
        time.sleep(0.2)
    return told


def end(connections):
    for connection in connections:
        connection.close()


def slow_heads(server, _):
    connections = many(server, 400, b"GET /v1/streams HTTP/1.1\r\nHost: x\r\nX: ")
    let_go = dribble(connections, b"a", PATIENCE + 4)
    end(connections)
    if let_go < 350:
        raise Fault(f"only {let_go} of 400 slow heads were let go")
    return f"{let_go} of 400 let go"


def slow_bodies(server, _):
    connections = many(server, 400, server.post(b"", length=15_000_000))
    let_go = dribble(connections, b'{"a":1}\n' * 2000, PATIENCE + 4)
    end(connections)
    return f"{let_go} of 400 let go"


def unread(server, _):
    """Large answers that nobody reads."""
    lines = "".join(json.dumps({"event": "request", "id": str(n), "pad": "x" * 500}) + "\n" for n in range(15_000)).encode()
    for _ in range(3):
        server.ask(server.post(lines))
    connections = []
    for _ in range(300):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(2)
        try:
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(server.head("GET", "/v1/streams/web/events?limit=10000"))
            connections.append(connection)
        except OSError:
            pass
    time.sleep(PATIENCE + 2)
    end(connections)
    return f"{len(connections)} asked"


def huge_heads(server, _):
    statuses = [server.ask(server.head("GET", "/v1/streams", "X: " + "a" * size + "\r\n")) for size in (10_000, 100_000, 5_000_000)]
    statuses += [server.ask(server.head("GET", "/v1/streams", "".join(f"X-{n}: a\r\n" for n in range(count)))) for count in (90, 200, 50_000)]
    statuses += [server.ask(server.head("GET", "/" + "a" * size)) for size in (1000, 60_000, 1_000_000)]
    statuses.append(server.ask(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: \r\n a\r\n" * 1000 + b"\r\n"))
    if any(status >= 500 for status in statuses):
        raise Fault(f"{statuses}")
    return f"{statuses}"


def connections(server, options):
    own = many(server, options.connections)
    # Somebody else is served all the while.
    began = time.monotonic()
    server.serves("127.0.0.2")
    took = time.monotonic() - began
    server.held()
    end(own)
    return f"{len(own)} made; another address was served after {took * 1e3:.0f} ms"


def bomb(size, packer):
    pieces, zeros = [], b" " * (1 << 20)
    for _ in range(size >> 20):
        pieces.append(packer.compress(zeros))
    return b"".join(pieces) + packer.flush()


def bombs(server, _):
    gz = bomb(1 << 30, zlib.compressobj(9, zlib.DEFLATED, 31))
    # A zstd frame of one block of one repeated byte, many times: 128 KB each, 4 bytes and a header.
    block = struct.pack("<I", (131072 << 3) | 2)[:3] + b" "
    zstd = b"\x28\xb5\x2f\xfd\x00\x58" + block * 8000 + struct.pack("<I", (0 << 3) | 1)[:3]
    members = gzip.compress(b" " * 1000) * 20_000
    statuses = {}
    for name, body, packing in [("gzip", gz, "gzip"), ("zstd", zstd, "zstd"), ("members", members, "gzip"), ("cut", gz[:5000], "gzip"),
                                ("not gzip", b'{"a": 1}\n', "gzip"), ("not zstd", b'{"a": 1}\n', "zstd"), ("gzip twice", gzip.compress(gzip.compress(b"{}\n")), "gzip"),
                                ("unknown", b"{}\n", "br"), ("two", gzip.compress(b"{}\n"), "gzip, gzip")]:
        statuses[name] = server.ask(server.post(body, f"Content-Encoding: {packing}\r\n"))
    if any(status in (0, 500, 200) for status in statuses.values()):
        raise Fault(f"{statuses}")
    # Many at once.
    request = server.post(gz, "Content-Encoding: gzip\r\n")
    own = many(server, 60, request)
    answers = []
    for connection in own:
        try:
            answers.append(connection.recv(12)[9:12].decode())
        except OSError:
            answers.append("-")
    end(own)
    return f"{statuses}, 60 at once: { {one: answers.count(one) for one in sorted(set(answers))} }"


def lies(server, _):
    """Bodies that are not what they say."""
    lines = b'{"event": "request", "id": "a"}\n'
    post = server.head("POST", "/v1/streams/web/events", "KEEP")
    raw = lambda headers, body: server.ask(post.replace(b"KEEP", headers) + body)
    chunked = b"Transfer-Encoding: chunked\r\n"
    found = {
        "too short": raw(b"Content-Length: 1000\r\n", lines),
        "negative": raw(b"Content-Length: -1\r\n", lines),
        "two lengths": raw(b"Content-Length: 5\r\nContent-Length: 6\r\n", lines),
        "huge length": raw(b"Content-Length: 99999999999999999999\r\n", lines),
        "too long": raw(b"Content-Length: 999999999\r\n", lines),
        "both": raw(b"Content-Length: 3\r\n" + chunked, b"0\r\n\r\n"),
        "bad chunk": raw(chunked, b"zz\r\nabc\r\n"),
        "endless chunk": raw(chunked, b"fffffffffffffffffffff\r\nabc"),
        "chunk extension": raw(chunked, b"1;" + b"a" * 100_000 + b"\r\nx\r\n0\r\n\r\n"),
        "no utf-8": server.ask(server.post(b'{"a": "\xff\xfe"}\n')),
        "zeros": server.ask(server.post(b"\0" * 100_000)),
        "deep": server.ask(server.post(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n")),
        "deep objects": server.ask(server.post(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n")),
        "long line": server.ask(server.post(b'{"a": "' + b"x" * 2_000_000 + b'"}\n')),
        "many keys": server.ask(server.post(b"{" + b",".join(b'"k%d":1' % n for n in range(50_000)) + b"}\n")),
        "number": server.ask(server.post(b'{"a": ' + b"9" * 100_000 + b"}\n")),
        "csv": server.ask(server.post(b'a,b\n"x' + b"y" * 100_000, "Content-Type: text/csv\r\n")),
        "csv columns": server.ask(server.post(b",".join(b"c%d" % n for n in range(100_000)) + b"\n", "Content-Type: text/csv\r\n")),
        "http/2": server.ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 100),
        "method": server.ask(server.head("A" * 10_000, "/")),
    }
    chance = random.Random(7)
    for _ in range(200):
        server.ask(bytes(chance.randrange(256) for _ in range(chance.randrange(1, 300))) + b"\r\n\r\n")
    if any(status >= 500 for status in found.values()):
        raise Fault(f"{found}")
    return f"{found}"


def pipeline(server, _):
    """A hundred thousand requests, and no answer is read."""
    own = []
    for _ in range(20):
        connection = server.connect()
        connection.setblocking(False)
        request, sent = server.head("GET", "/openapi.json") * 5000, 0
        until = time.monotonic() + 0.3
        while sent < len(request) and time.monotonic() < until:
            try:
                sent += connection.send(request[sent:])
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:
                break
        own.append(connection)
    time.sleep(PATIENCE)
    end(own)
    return "20 connections"


def sockets(server, _):
    """WebSockets that break every rule."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = server.head("GET", "/v1/feed/ws", f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n")
    frames = [b"\x82\xff" + struct.pack(">Q", 1 << 62) + b"\0" * 4, b"\x81\xfe\xff\xff" + b"\0" * 4 + b"a" * 65535, b"\xff" * 1000,
              b"\x01\x80\0\0\0\0" * 10_000, b"\x88\x80\0\0\0\0"]
    for frame in frames * 4:
        with server.connect() as connection:
            connection.sendall(upgrade)
            connection.recv(4096)
            try:
                connection.sendall(frame)
                connection.settimeout(0.3)
                connection.recv(4096)
            except OSError:
                pass
    return f"{len(frames) * 4} connections"


def paths(server, _):
    """Names that lead elsewhere, wherever a name is taken."""
    names = ["..", "../outside", "..%2foutside", "%2e%2e%2foutside", "....//outside", "..\\outside", "..%5coutside", "%2fetc%2fpasswd", "/etc/passwd",
             "a%00b", ".hidden", "%2e", "a" * 300, "%c0%ae%c0%ae%2foutside", "outside.tw%2f..", "con", "a:b", "~root", "$HOME", "*", "a%0d%0ab"]
    statuses = []
    for name in names:
        for method, path in [("POST", "/v1/streams/{}/events"), ("GET", "/v1/streams/{}/events"), ("PUT", "/v1/specs/{}"), ("GET", "/v1/specs/{}"),
                             ("DELETE", "/v1/specs/{}"), ("POST", "/v1/specs/{}/try"), ("GET", "/page/{}"), ("DELETE", "/v1/silences/{}"),
                             ("GET", "/v1/explanation?stream={}&spec={}"), ("GET", "/v1/model?stream={}"), ("GET", "/v1/words?stream={}")]:
            body = b"property p : G true;\n"
            status = server.ask(server.head(method, path.replace("{}", name), f"Content-Length: {len(body)}\r\n") + body)
            if status >= 500:
                raise Fault(f"{method} {path} with {name}: {status}")
            statuses.append(status)
    return f"{len(statuses)} requests, { {one: statuses.count(one) for one in sorted(set(statuses))} }"


def specs(server, _):
    """Texts that no specification should be."""
    texts = {
        "deep": "property p : " + "!" * 200_000 + "a;\n",
        "brackets": "property p : " + "(" * 200_000 + "a" + ")" * 200_000 + ";\n",
        "wide": "property p : " + " & ".join(f"x > {n}" for n in range(50_000)) + ";\n",
        "windows": "property p : G F[0,999999999999d] a;\n",
        "counts": "property p : " + "X " * 100_000 + "a;\n",
        "doubling": "".join(f"let a{n} = a{n - 1} & a{n - 1};\n" for n in range(1, 200)) + "let a0 = x > 1;\nproperty p : a199;\n",
        "nothing": "\0" * 1000,
        "long": "// " + "x" * 5_000_000,
    }
    found = {}
    for name, text in texts.items():
        body = text.encode()
        for method, path in [("POST", "/v1/check"), ("PUT", "/v1/specs/hostile")]:
            found[f"{name} {method}"] = server.ask(server.head(method, path, f"Content-Length: {len(body)}\r\n") + body)
    server.ask(server.head("DELETE", "/v1/specs/hostile"))
    return f"{found}"


def streams(server, _):
    statuses = [server.ask(server.post(b'{"a": 1}\n', stream=f"many-{n}")) for n in range(60)]
    if statuses.count(403) < 25:
        raise Fault(f"{statuses}")
    return f"{statuses.count(200)} made, {statuses.count(403)} refused"


def guessing(server, _):
    statuses, wait = [], ""
    for number in range(1000):
        guess = server.head("GET", "/v1/streams", token="tw_" + os.urandom(32).hex())
        statuses.append(server.ask(guess, "127.0.0.3"))
    if statuses.count(200) or statuses.count(401) > 60 or statuses.count(429) < 900:
        raise Fault(f"{ {one: statuses.count(one) for one in sorted(set(statuses))} }")
    with server.connect("127.0.0.3") as connection:
        connection.sendall(server.head("GET", "/v1/streams", token="x"))
        wait = re.search(rb"retry-after: (\d+)", connection.recv(4096))
    if not wait:
        raise Fault("429 without Retry-After")
    return f"{ {one: statuses.count(one) for one in sorted(set(statuses))} }"


ATTACKS = [slow_heads, slow_bodies, unread, huge_heads, bombs, lies, pipeline, sockets, paths, specs, streams, guessing, connections]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--memory", type=float, default=700, help="MB that the server may hold")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    options.connections = min(options.connections, hard - 200)
    failed = False
    with tempfile.TemporaryDirectory(prefix="tracewise-hostile-") as folder:
        folder = Path(folder)
        server = Server(str(Path(options.binary).resolve()), folder)
        server.serves("127.0.0.1")
        now, most = server.held()
        print(f"at first: {now:.0f} MB", flush=True)
        for attack in ATTACKS * options.rounds:
            if options.only and attack.__name__ not in options.only.split(","):
                continue
            began = time.monotonic()
            try:
                what = attack(server, options)
                server.serves("127.0.0.2")
                now, most = server.held()
                if most > options.memory:
                    raise Fault(f"it held {most:.0f} MB, more than {options.memory:.0f}")
                print(f"{attack.__name__}: {now:.0f} MB held, {most:.0f} MB at most, {time.monotonic() - began:.1f} s: {what}", flush=True)
            except Fault as fault:
                failed = True
                print(f"{attack.__name__}: FAULT: {fault}", flush=True)
                if server.process.poll() is not None:
                    print((folder / "said").read_text()[-2000:])
                    sys.exit(1)
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait()
        said = (folder / "said").read_text()
        if code != 0 or server.token in said or "panicked" in said:
            failed = True
            print(f"FAULT: exit {code}, said: {said[-2000:]}")
        there = {path.name for path in folder.iterdir()}
        if there != {"data", "outside.tw", "config.toml", "tokens", "said"} or not {path.name for path in (folder / "data").iterdir()} <= {"specs", "streams", "verdicts", "silences.json", "webhooks", "lock"}:
            failed = True
            print(f"FAULT: the folder holds {there}")
    print(f"load {os.getloadavg()[0]:.1f}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
