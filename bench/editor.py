#!/usr/bin/env python3
"""How long an editor waits: bench/editor.py TRACEWISE [LINES [MOST]]

Opens a specification of so many lines (1,000) in `tracewise lsp`, types into it, and measures the time from each change to its
findings; then hover, completion and formatting. Prints the median and the longest, in milliseconds, and the server's CPU time per change,
which does not depend on what else the machine does; exits with 1 if that is more than MOST milliseconds.
"""

import json
import os
import statistics
import subprocess
import sys
import time


def specification(lines):
    out = ["var queue: int;", "event login(user: string, ip: string);", "let busy = queue > 10;"]
    kinds = [
        "property p{0} \"every request is answered\" : G (req{1} & !busy -> F[0,10s] (ack{1} | timeout));",
        "let waiting{0}(u) = requested(u) S !served(u) & x{1} + 2 * y{1} <= {0};",
        "property q{0} : G forall u. login(u, _) -> O[0,1h] register(u) & waiting{2}(u);",
        "query m{0} : max[count[retry{1} while busy]];",
        "require r{0} : quantile(0.99)[ms{1}] < {0} by user every 1h;",
    ]
    for number in range(len(out), lines):
        # The macro that stands before, of those in the second of five lines.
        last_macro = max(4, (number - 1) // 5 * 5 + 1)
        kind = kinds[number % 5] if number > 10 else kinds[1 if number == 4 else 0]
        last_macro = 4 if number < 12 else last_macro
        out.append(kind.format(number, number % 40, last_macro))
    return "\n".join(out) + "\n"


class Client:
    def __init__(self, command):
        self.server = subprocess.Popen([command, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next = 0

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while line := self.server.stdout.readline().strip():
            length = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(length))

    def ask(self, method, params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.next:
            pass
        assert "error" not in message, message
        return message["result"]

    def findings(self):
        while (message := self.receive()).get("method") != "textDocument/publishDiagnostics":
            pass
        return message["params"]["diagnostics"]


def cpu(client):
    """Seconds that the server has computed."""
    fields = open(f"/proc/{client.server.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    command, lines = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    client, uri, text = Client(command), "file:///bench.tw", specification(lines)
    client.ask("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
    client.send({"method": "initialized", "params": {}})
    item = {"uri": uri, "languageId": "tracewise", "version": 0, "text": text}
    client.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    found = client.findings()
    assert not found, found[:3]
    document, waits = {"uri": uri}, []
    place = {"line": lines // 2, "character": 0}
    before = cpu(client)
    for number in range(100):
        # A comment and a half of a word are typed in turn, and taken away.
        new = ["// x\n", "", "prop", ""][number % 4]
        end = {"line": place["line"] + (number % 4 == 1), "character": 4 if number % 4 == 3 else 0}
        change = {"range": {"start": place, "end": end}, "text": new}
        start = time.perf_counter()
        client.send({"method": "textDocument/didChange",
                     "params": {"textDocument": {**document, "version": number}, "contentChanges": [change]}})
        found = client.findings()
        waits.append(time.perf_counter() - start)
        assert any(own["severity"] == 1 for own in found) == (number % 4 == 2), (number, found[:3])
    report("findings after a change", waits)
    each = (cpu(client) - before) / len(waits) * 1000
    print(f"CPU time per change: {each:.1f} ms")
    where = {"textDocument": document, "position": {"line": 12, "character": 12}}
    for name, method, params in [
        ("hover", "textDocument/hover", where),
        ("completion", "textDocument/completion", where),
        ("formatting", "textDocument/formatting", {"textDocument": document, "options": {}}),
    ]:
        waits = []
        for _ in range(20):
            start = time.perf_counter()
            client.ask(method, params)
            waits.append(time.perf_counter() - start)
        report(name, waits)
    client.ask("shutdown", None)
    client.send({"method": "exit"})
    assert client.server.wait() == 0
    if len(sys.argv) > 3 and each > float(sys.argv[3]):
        sys.exit(f"{each:.1f} ms are more than {sys.argv[3]} ms")


def report(name, waits):
    waits = [wait * 1000 for wait in waits]
    print(f"{name}: median {statistics.median(waits):.1f} ms, longest {max(waits):.1f} ms")


main()
