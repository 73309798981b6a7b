#!/usr/bin/env python3
"""Writes the nine logs of this folder. They are made up, with a fixed seed: the same files every time."""

import gzip
import json
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
START = datetime(2026, 3, 2, 8, 0, 0, tzinfo=timezone.utc)


def iso(seconds, digits=3):
    at = START + timedelta(seconds=seconds)
    text = at.strftime("%Y-%m-%dT%H:%M:%S")
    return text + (f".{at.microsecond:06d}"[: digits + 1] if digits else "") + "Z"


def write(name, lines):
    (HERE / name).write_text("".join(line + "\n" for line in lines))


def nginx(rng):
    """Some paths fail for a while; one does not come back within half a minute."""
    broken = {"/cart": (60, 75), "/login": (140, 181), "/search": (250, 262)}
    lines, now = [], 0.0
    for number in range(330):
        now += rng.uniform(0.4, 1.6)
        path = rng.choice(["/", "/cart", "/login", "/search"])
        first, last = broken.get(path, (0, 0))
        status = 502 if first <= now <= last else rng.choice([200, 200, 200, 304])
        lines.append({
            "@timestamp": iso(now),
            "http": {"request": {"id": f"q{number}", "method": "GET"}, "path": path, "status": status},
            "client": {"ip": f"10.0.0.{rng.randrange(1, 9)}"},
            "duration_ms": rng.randrange(3, 90),
        })
    write("nginx.jsonl", map(json.dumps, lines))


def kubernetes(rng):
    """Pods are scheduled and started; two take more than a minute, one of them for ever."""
    events = []
    for number in range(14):
        pod, at = f"web-{number:02d}", number * 23
        slow = {4: 95, 9: None}.get(number, rng.randrange(4, 40))
        steps = [("Scheduled", at), ("Pulling", at + 1)]
        if slow is None:
            steps += [("Failed", at + 12), ("BackOff", at + 30)]
        else:
            steps += [("Pulled", at + slow - 2), ("Created", at + slow - 1), ("Started", at + slow)]
        events += [(when, pod, reason) for reason, when in steps]
    events.sort()
    write("kubernetes.jsonl", (json.dumps({
        "metadata": {"name": f"{pod}.{number:04x}", "namespace": "shop", "creationTimestamp": iso(when, 0)},
        "involvedObject": {"kind": "Pod", "name": pod},
        "reason": reason,
        "type": "Warning" if reason in ("Failed", "BackOff") else "Normal",
    }) for number, (when, pod, reason) in enumerate(events)))


def opentelemetry(rng):
    """One export: checkouts of a shop, each a root with two children. One payment is slow, one fails."""
    nano = lambda seconds: str(int((START.timestamp() + seconds) * 1000) * 1_000_000)
    spans = []
    for number in range(12):
        trace, at = f"{0xabc000 + number:032x}", number * 2.5
        pay = {5: 0.81}.get(number, round(rng.uniform(0.05, 0.3), 3))
        failed = number == 8
        for kind, (name, begin, length) in enumerate([
            ("checkout", 0, pay + 0.3), ("charge card", 0.1, pay), ("reserve stock", 0.02, 0.06),
        ]):
            spans.append({
                "traceId": trace,
                "spanId": f"{number * 16 + kind + 1:016x}",
                **({"parentSpanId": f"{number * 16 + 1:016x}"} if kind else {}),
                "name": name,
                "kind": 1,
                "startTimeUnixNano": nano(at + begin),
                "endTimeUnixNano": nano(at + begin + length),
                "attributes": [{"key": "order.id", "value": {"stringValue": f"o{number}"}}],
                "status": {"code": 2, "message": "card declined"} if failed and kind == 1 else {},
            })
    export = {"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"scope": {"name": "shop.checkout"}, "spans": spans}],
    }]}
    (HERE / "otel.json").write_text(json.dumps(export, indent=1) + "\n")


def controller(rng):
    """A heater: cells apart by semicolons, a sensor that is sometimes silent."""
    lines, temperature = ["time;setpoint;temperature;heater"], 18.0
    for second in range(240):
        setpoint = 21.0 if second < 120 else 23.0
        heater = temperature < setpoint
        temperature += (0.22 if heater else -0.09) + rng.uniform(-0.05, 0.05)
        if 180 <= second < 190:
            temperature += 0.45
        seen = "N/A" if second % 37 == 11 else f"{temperature:.2f}"
        lines.append(f"{second};{setpoint};{seen};{'on' if heater else 'off'}")
    write("heater.csv", lines)


def locks(rng):
    """Threads take locks and give them back. One forgets."""
    lines, now = ["time,event,thread,lock"], 0
    held, forgotten = [], False
    for _ in range(120):
        now += rng.randrange(1, 5)
        if held and (len(held) > 3 or rng.random() < 0.5):
            thread, lock = held.pop(rng.randrange(len(held)))
            if dropped := len(lines) > 60 and not forgotten:
                forgotten = True
            if not dropped:
                lines.append(f"{now},release,{thread},{lock}")
        else:
            thread = f"t{rng.randrange(1, 6)}"
            free = [lock for lock in "ABCDEF" if lock not in {lock for _, lock in held}]
            held.append((thread, rng.choice(free)))
            lines.append(f"{now},acquire,{thread},{held[-1][1]}")
    for thread, lock in held:
        now += 1
        lines.append(f"{now},release,{thread},{lock}")
    write("locks.csv", lines)


def orders(rng):
    """Orders are placed, paid and shipped; one ships unpaid, one is paid and never shipped."""
    events = []
    for number in range(30):
        at, order = number * 3, f"A{100 + number}"
        events.append((at, "placed", order))
        if number == 17:
            events.append((at + 4, "shipped", order))
            continue
        if rng.random() < 0.15:
            events.append((at + 6, "cancelled", order))
            continue
        events.append((at + rng.randrange(2, 6), "paid", order))
        if number != 21:
            events.append((at + rng.randrange(7, 14), "shipped", order))
    write("orders.csv", ["time,event,order", *(f"{at},{event},{order}" for at, event, order in sorted(events))])


def ssh(rng):
    """Logins by address. One address guesses three times within a minute and then gets in."""
    events = []
    for number in range(60):
        at, ip = number * 20 + rng.randrange(10), f"203.0.113.{rng.randrange(1, 9)}"
        events.append((at, "failed" if rng.random() < 0.3 else "accepted", ip))
    events += [(700 + second, "failed", "198.51.100.7") for second in (1, 12, 31)] + [(745, "accepted", "198.51.100.7")]
    events += [(300 + second, "failed", "198.51.100.9") for second in (1, 62, 140)] + [(150, "accepted", "198.51.100.9")]
    write("ssh.jsonl", (json.dumps({
        "ts": int((START.timestamp() + at) * 1000),
        "event": event,
        "user": rng.choice(["root", "ana", "eli"]),
        "ip": ip,
        "port": 40000 + number,
    }) for number, (at, event, ip) in enumerate(sorted(events))))


def jobs(rng):
    """Jobs of a build server, in a file and two that were rotated away. A job that starts ends within ten minutes."""
    events = []
    for number in range(40):
        at = number * 90 + rng.randrange(30)
        events.append((at, "started", number))
        length = {11: 760, 29: None}.get(number, rng.randrange(60, 500))
        if length is not None:
            events.append((at + length, rng.choice(["passed", "passed", "failed"]), number))
    events.sort()
    lines = [json.dumps({"time": iso(at, 0), "event": event, "job": f"build-{number}"}) for at, event, number in events]
    parts = [lines[:30], lines[30:60], lines[60:]]
    for name, part in zip(["jobs.log.2.gz", "jobs.log.1.gz"], parts):
        with open(HERE / name, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
            packed.write("".join(line + "\n" for line in part).encode())
    write("jobs.log", parts[2])


def application(rng):
    """An application's log in which some lines were torn by a crash. A connection that is opened is closed."""
    lines, now = [], 0.0
    open_ones = []
    for number in range(150):
        now += rng.uniform(0.1, 2.0)
        if open_ones and rng.random() < 0.5:
            connection = open_ones.pop(0)
            if connection == 23:
                continue
            lines.append(json.dumps({"time": iso(now), "level": "info", "event": "closed", "connection": connection}))
        else:
            open_ones.append(number)
            lines.append(json.dumps({"time": iso(now), "level": "info", "event": "opened", "connection": number}))
        if number % 40 == 19:
            lines.append('{"time": "' + iso(now) + '", "level": "err')
    for connection in open_ones:
        now += 0.5
        lines.append(json.dumps({"time": iso(now), "level": "info", "event": "closed", "connection": connection}))
    lines.insert(77, "Segmentation fault (core dumped)")
    write("application.log", lines)


for number, make in enumerate([nginx, kubernetes, opentelemetry, controller, locks, orders, ssh, jobs, application]):
    make(random.Random(number))
