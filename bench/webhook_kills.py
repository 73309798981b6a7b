#!/usr/bin/env python3
"""Kills a server at random moments while a webhook tells of violations: each is told at least once, under the id that it has.

    bench/webhook_kills.py BINARY [--kills 20] [--seed N]

The receiver refuses some requests, lets some without an answer, and is away for a while. At the end every violation that
`GET /v1/violations` lists is in a request that was taken, the signature of each is right, requests with one id have one content, and
nobody was told of what a silence was about. Exit code 1 on a difference.
"""

import argparse
import hashlib
import hmac
import http.server
import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from server_kills import Difference, Server, violations  # noqa: E402

SPEC = "".join(f"property p{n} : G (n != {n});\n" for n in range(5)) + "property quiet : G (n != 7);\n"


class Receiver:
    """Takes requests, if it likes."""

    def __init__(self, chance, secret):
        self.taken, self.texts, self.wrong, self.refused, self.away = {}, {}, [], 0, False
        own = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                stamp, sign = (part.split("=", 1)[1] for part in self.headers["x-tracewise-signature"].split(","))
                expected = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
                delivery = self.headers["x-tracewise-delivery"]
                if not hmac.compare_digest(expected, sign):
                    own.wrong.append("a signature is wrong")
                if own.texts.setdefault(delivery, body) != body:
                    own.wrong.append(f"{delivery} has two contents")
                roll = chance.random()
                if own.away or roll < 0.2:
                    own.refused += 1
                    if roll < 0.1:
                        return self.connection.close()
                    return self.send_error(503)
                told = json.loads(body)
                for one in told["violations"]:
                    own.taken[one["id"]] = own.taken.get(one["id"], 0) + 1
                if told["count"] != len(told["violations"]):
                    own.wrong.append(f"{told['count']} counted, {len(told['violations'])} listed")
                # Taken, and the server does not hear of it.
                if roll > 0.95:
                    return self.connection.close()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    receiver = Receiver(random.Random(options.seed + 1), "a secret")
    with tempfile.TemporaryDirectory(prefix="tracewise-webhook-kills-") as folder:
        folder = Path(folder)
        (folder / "specs").mkdir()
        (folder / "specs/own.tw").write_text(SPEC)
        (folder / "secret").write_text("a secret\n")
        (folder / "config.toml").write_text(
            '[server]\ncheckpoint = "20ms"\n[[webhook]]\nname = "ops"\n'
            f'url = "http://127.0.0.1:{receiver.server.server_address[1]}/hook"\nsecret_file = "{folder}/secret"\n'
            'group_wait = "50ms"\ngroup_interval = "100ms"\nrepeat = "never"\ntimeout = "2s"\n')
        server = Server(str(Path(options.binary).resolve()), folder, options.seed)
        server.start()
        status, answer = server.ask("POST", "/v1/silences", json.dumps({"match": ["property=quiet"], "duration": "1h"}))
        if status != 201:
            raise Difference(f"silence: {status} {answer}")
        sent, until = 0, 0
        for kill in range(options.kills):
            until = time.monotonic() + chance.choice([0.05, 0.3, 0.8]) * chance.random() + 0.05
            receiver.away = chance.random() < 0.2
            while time.monotonic() < until:
                rows = [{"n": chance.randrange(12), "at": sent + number} for number in range(chance.randrange(1, 4))]
                status, _ = server.ask("POST", "/v1/streams/main/events", "".join(json.dumps(row) + "\n" for row in rows))
                if status != 200:
                    raise Difference(f"status {status}")
                sent += len(rows)
                time.sleep(0.03)
            server.kill()
            server.start()
        receiver.away = False
        expected = {one["id"]: one["property"] for one in violations(server)}
        loud = {one for one, name in expected.items() if name != "quiet"}
        late = time.monotonic() + 90
        while not loud <= set(receiver.taken) and time.monotonic() < late:
            time.sleep(0.1)
        missing = loud - set(receiver.taken)
        expected = {one["id"]: one["property"] for one in violations(server)}
        strange = [one for one in receiver.taken if expected.get(one, "quiet") == "quiet"]
        server.kill()
        said = (folder / "said").read_text()
    again = sum(count > 1 for count in receiver.taken.values())
    print(f"seed {options.seed}: {options.kills} kills, {sent} events, {len(loud)} violations told, {again} of them more than once, "
          f"{len(receiver.texts)} requests, {receiver.refused} refused")
    if missing or strange or receiver.wrong or "a secret" in said or "/hook" in said:
        print(f"{len(missing)} were never told: {sorted(missing)[:3]}; {len(strange)} strange; {receiver.wrong[:3]}\n{said[-2000:]}")
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Difference as difference:
        print(difference)
        sys.exit(1)
