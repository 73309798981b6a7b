#!/usr/bin/env python3
"""Writes a log of a shop in which sessions fail in a few ways: sessions.py SESSIONS > log.jsonl"""
import json
import random
import sys

# What happens in a session, beside looking around; how often, of a hundred.
WAYS = [
    (46, ["pay", "view", "confirm", "ship"]),
    (25, ["pay", "confirm", "cancel", "refund"]),
    (14, ["pay", "decline", "ship"]),
    (9, ["ship"]),
    (4, ["pay", "confirm", "view", "cancel", "pay", "view"]),
    (2, ["pay", "confirm", "ship"]),
]


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    rng = random.Random(7)
    ways = [way for often, way in WAYS for _ in range(often)]
    events = []
    for number in range(sessions):
        way = list(rng.choice(ways))
        before, after = rng.randrange(5), rng.randrange(4)
        names = ["view"] * before + ["cart"] + way + ["view"] * after
        at = rng.random() * sessions
        for name in names:
            at += rng.random() * 3
            events.append((at, {"time": round(at, 3), "session": f"s{number:05}", "event": name}))
    events.sort(key=lambda event: event[0])
    for _, event in events:
        print(json.dumps(event))


main()
