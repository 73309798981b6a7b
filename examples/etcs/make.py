#!/usr/bin/env python3
"""Writes the logs of this folder and what is to be said of them; the same files every time.

Two radio block centres hand trains over to each other's area by messages that take their time. What is recorded of a train is
damaged on purpose, for some: an event is repeated, deleted, inserted, or changes its place with the next. The verdicts are computed
here by the definitions, on lists, by other code than the program's.
"""

import heapq
import json
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = {"Conf": "SaCONN.conf", "HOV": "HOVcond", "Pre": "preAnn", "Req": "RRIReq", "RRI": "RRI", "Ack": "Ackn"}

# Charts: events in an order that they allow, and the pairs of which the first comes before the second.
HOVCOND = (["rHOV"], [])
CONF = (["rConf"], [])
PREANN = (["sPre", "rPre"], [("sPre", "rPre")])
REQUEST = (["sReq", "rReq"], [("sReq", "rReq")])
ANSWER = (["sRRI", "rRRI", "sAck", "rAck"], [("sRRI", "rRRI"), ("rRRI", "sAck"), ("sAck", "rAck"), ("sRRI", "rAck")])
CHECKS = [
    ("preHOV.necessary", HOVCOND, PREANN, "necessary"),
    ("preHOV.sufficient", HOVCOND, PREANN, "sufficient"),
    ("ExdEoA.necessary", REQUEST, ANSWER, "necessary"),
    ("connected.sufficient", CONF, PREANN, "sufficient"),
    ("preHOV.main -> ExdEoA.main", PREANN, ANSWER, "sufficient"),
    ("preHOV.main -> ExdEoA.pre", PREANN, REQUEST, "sufficient"),
]


def in_order(chart, places):
    return all(places[a] < places[b] for a, b in chart[1])


def once(trace, chart):
    """All events happen, each once, in their order."""
    if any(trace.count(event) != 1 for event in chart[0]):
        return False
    return in_order(chart, {event: trace.index(event) for event in chart[0]})


def ltl(trace, pre, main, kind):
    first = [trace.index(event) for event in main[0] if event in trace]
    apart = all(event in trace and all(trace.index(event) < at for at in first) for event in pre[0]) or not first
    led, follows = once(trace, pre) and apart, once(trace, main)
    return (not led or follows) if kind == "necessary" else (not follows or led)


def windows(trace, chart):
    """Where the chart begins, as neighbours in the trace."""
    size = len(chart[0])
    return [at for at in range(len(trace) - size + 1) if once(trace[at:at + size], chart)]


def segment(trace, pre, main, kind, directly=True):
    trace = [event for event in trace if event in pre[0] + main[0]]
    ends = [at + len(pre[0]) for at in windows(trace, pre)]
    begins = windows(trace, main)
    if kind == "necessary":
        return all(any(end == at if directly else end <= at for at in begins) for end in ends)
    return all(any(end == at if directly else end <= at for end in ends) for at in begins)


def executions(trace, chart):
    """The k-th execution has the k-th occurrence of each event."""
    places = {event: [at for at, own in enumerate(trace) if own == event] for event in chart[0]}
    return [{event: own[k] for event, own in places.items()} for k in range(min(map(len, places.values())))]


def counted(trace, pre, main):
    led, follow = executions(trace, pre), executions(trace, main)
    if not all(in_order(pre, own) for own in led) or not all(in_order(main, own) for own in follow):
        return False
    if any(max(own.values()) >= min(after.values()) for own, after in zip(led, led[1:])):
        return False
    later = [min(own.values()) for own in follow]
    return len(follow) >= len(led) and all(any(at > max(own.values()) for at in later) for own in led)


def violated(trace, reading):
    found = []
    for name, pre, main, kind in CHECKS:
        arrow = " -> " in name
        if reading == "ltl":
            holds = ltl(trace, pre, main, kind)
        elif reading == "iterated" and name.startswith("ExdEoA"):
            holds = counted(trace, pre, main)
        else:
            holds = segment(trace, pre, main, kind, directly=reading == "segment" or not arrow)
        if not holds:
            found.append(name)
    return found


BASE = "rConf rHOV sPre rPre sReq rReq sRRI rRRI sAck rAck"
CASES = {
    "base": BASE,
    "announcement-lost": BASE.replace("rPre ", ""),
    "answer-lost": BASE.replace("rRRI ", ""),
    "thanks-lost": BASE.replace(" rAck", ""),
    "received-before-sent": BASE.replace("sPre rPre", "rPre sPre"),
    "announced-twice": BASE.replace("sPre", "sPre sPre"),
    "not-at-the-border": BASE.replace("rHOV ", ""),
    "not-connected": BASE.replace("rConf ", ""),
    "connected-late": "rHOV sPre rPre rConf sReq rReq sRRI rRRI sAck rAck",
    "asked-early": "rConf rHOV sReq rReq sPre rPre sRRI rRRI sAck rAck",
    "unasked": BASE.replace("sReq rReq ", ""),
    "two-rounds": BASE + " sReq rReq sRRI rRRI sAck rAck",
    "overlapping-rounds": "rConf rHOV sPre rPre sReq rReq sRRI sReq rRRI sAck rReq rAck sRRI rRRI sAck rAck",
}


class Centre:
    """A radio block centre: what it does when a message arrives."""

    def __init__(self, name, world):
        self.name, self.world = name, world

    def send(self, message, train):
        self.world.record(self.name, "send", message, train)
        self.world.deliver(self.other, message, train)

    def receive(self, message, train):
        self.world.record(self.name, "recv", message, train)
        if message == "HOVcond":
            self.send("preAnn", train)
        elif message == "preAnn":
            # Sometimes route information comes unasked, before anybody can ask.
            if self.world.rng.random() < 0.2:
                self.send("RRI", train)
        elif message == "RRIReq":
            self.send("RRI", train)
        elif message == "RRI":
            self.send("Ackn", train)


class World:
    def __init__(self, rng):
        self.rng, self.now, self.agenda, self.log, self.number = rng, 0.0, [], [], 0
        self.last = {}
        self.hov, self.acc = Centre("HOV", self), Centre("ACC", self)
        self.hov.other, self.acc.other = self.acc, self.hov

    def at(self, when, action):
        self.number += 1
        heapq.heappush(self.agenda, (when, self.number, action))

    def deliver(self, centre, message, train):
        # The channel keeps the order of what one centre sends about a train.
        arrives = max(self.now + self.rng.uniform(0.05, 0.4), self.last.get((centre.name, train), 0.0) + 0.001)
        self.last[centre.name, train] = arrives
        self.at(arrives, lambda: centre.receive(message, train))

    def record(self, centre, direction, message, train):
        self.log.append({"t": round(self.now, 3), "train": train, "rbc": centre, "dir": direction, "msg": message})

    def train(self, train, begin):
        self.at(begin, lambda: self.hov.receive("SaCONN.conf", train))
        self.at(begin + self.rng.uniform(1, 3), lambda: self.hov.receive("HOVcond", train))
        asks = begin + 6
        for _ in range(self.rng.randrange(1, 4)):
            self.at(asks, lambda: self.hov.send("RRIReq", train))
            asks += self.rng.uniform(2, 4)

    def run(self):
        while self.agenda:
            self.now, _, action = heapq.heappop(self.agenda)
            action()


def damage(events, fault, rng):
    """The events of a train as a bad recorder has them."""
    events = [dict(event) for event in events]
    at = rng.randrange(len(events) - 1)
    if fault == "repetition":
        events.insert(at + 1, dict(events[at]))
    elif fault == "deletion":
        del events[at]
    elif fault == "insertion":
        events.insert(at, {**rng.choice(events), "t": events[at]["t"]})
    elif fault == "reordering":
        one, other = events[at], events[at + 1]
        events[at], events[at + 1] = {**other, "t": one["t"]}, {**one, "t": other["t"]}
    return events


def short(event):
    return event["dir"][0] + next(key for key, name in NAMES.items() if name == event["msg"])


def dump(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def main():
    verdicts = []
    for name, events in CASES.items():
        rows = []
        for at, event in enumerate(events.split()):
            rows.append({"t": at, "dir": {"s": "send", "r": "recv"}[event[0]], "msg": NAMES[event[1:]]})
        (HERE / "cases" / f"{name}.jsonl").write_text(dump(rows))
        for reading in ("ltl", "segment", "iterated"):
            verdicts.append({"case": name, "reading": reading, "violated": violated(events.split(), reading)})
    rng = random.Random(2014)
    world = World(rng)
    for train in range(1, 31):
        world.train(train, 3.0 * train)
    world.run()
    recorded, faults, broken = [], {}, {name: [] for name, *_ in CHECKS}
    for train in range(1, 31):
        events = [event for event in world.log if event["train"] == train]
        faults[train] = ("none", "repetition", "deletion", "insertion", "reordering")[train % 5]
        events = damage(events, faults[train], rng)
        recorded += events
        for name in violated([short(event) for event in events], "iterated"):
            broken[name].append(train)
    recorded.sort(key=lambda event: event["t"])
    (HERE / "trains.jsonl").write_text(dump(recorded))
    for name, trains in broken.items():
        verdicts.append({"property": name, "trains": trains})
    for fault in ("none", "repetition", "deletion", "insertion", "reordering"):
        own = [train for train in faults if faults[train] == fault]
        seen = [train for train in own if any(train in trains for trains in broken.values())]
        verdicts.append({"fault": fault, "trains": own, "found": seen})
    (HERE / "verdicts.jsonl").write_text(dump(verdicts))


if __name__ == "__main__":
    main()
