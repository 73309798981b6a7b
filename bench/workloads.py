"""Logs and policies about data for bench/firstorder.py, each with an oracle that counts violations by other means than
monitoring: by tables of what happened when.

All logs are synthetic, made from a seed. A log is a list of points `(time, [(event, arguments), …])`.
"""

import random
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import Callable

MINUTE, DAY = 60, 86_400


@dataclass
class Workload:
    name: str
    spec: str  # a formula of the specification language
    declared: str  # its events, as a signature
    policy: str  # the same for MonPoly, which prints violations with -negate
    log: Callable  # (random, number of events) to a list of points
    oracle: Callable  # points to the number of violations
    timed: bool = True  # else one event at a time, without times


def within(times, low, high):
    """Whether one of the times, which are sorted, lies between two others."""
    at = bisect_left(times, low)
    return at < len(times) and times[at] <= high


# --- Six policies about computers (Table 1 of "Scalable Offline Monitoring") -----------------------------------------

# How often each event occurs in the log of the paper (Table 3), which is not public.
MIX = {"alive": 15_912_852_267, "net": 7_807_707_082, "ssh_login": 1_114_022_780, "ssh_logout": 1_047_892_209,
       "auth": 7_926_789, "upd_start": 65_458_956, "upd_connect": 45_869_101, "upd_success": 31_618_594, "upd_skip": 5_960_195}
COMPUTERS = ("alive(c: int) net(c: int) auth(c: int, t: int) upd_start(c: int) upd_connect(c: int) upd_success(c: int) "
             "upd_skip(c: int) ssh_login(c: int, s: int) ssh_logout(c: int, s: int)")


def computers(dice, events):
    """Up to 35,000 computers, some far busier than others, 3,000 time points over four days (337 events at each in a log of a
    million). A few are servers, which are on the net every ten minutes. Events that are rare in the mix are less rare in small
    logs, so that every policy has something to say."""
    count = max(1, min(3_000, events // 2))
    per_point = max(1, events // count)
    machines = max(20, min(35_000, events // 30))
    servers = max(1, events // 10_000)
    names, boost = list(MIX), max(1, 200_000 // events)
    weights = [MIX[name] * (boost if MIX[name] < 10**8 else 1) for name in names]
    open_sessions, session, points = [], 0, []
    for point in range(count):
        time = int(point * 4 * DAY / count)
        if points and dice.random() < 0.1:
            time = points[-1][0]
        here = [("net", (server,)) for server in range(point % 5, servers, 5)]
        for name in dice.choices(names, weights, k=max(1, per_point - len(here))):
            machine = dice.randrange(servers) if dice.random() < 0.2 else int(machines * dice.random() ** 2)
            if name == "auth":
                here.append((name, (machine, dice.choice((900, 1000, 1001, 5000, 9000)))))
            elif name == "ssh_login":
                session += 1
                here.append((name, (machine, session)))
                open_sessions.append((machine, session))
            elif name == "ssh_logout":
                if open_sessions:
                    at = dice.randrange(len(open_sessions))
                    open_sessions[at], open_sessions[-1] = open_sessions[-1], open_sessions[at]
                    here.append((name, open_sessions.pop()))
            else:
                here.append((name, (machine,)))
        points.append((time, here))
    return points


class Times:
    """When what happened, by event and arguments: times in order."""

    def __init__(self, points):
        self.found = defaultdict(list)
        for time, events in points:
            for event, arguments in events:
                times = self.found[event, arguments]
                if not times or times[-1] != time:
                    times.append(time)

    def between(self, event, arguments, low, high):
        return within(self.found.get((event, arguments), ()), low, high)

    def all(self, event, arguments, low, high):
        times = self.found.get((event, arguments), ())
        at = bisect_left(times, low)
        while at < len(times) and times[at] <= high:
            yield times[at]
            at += 1


def judged(event, bad):
    """An oracle: how many different events of a name are bad, point by point."""

    def oracle(points):
        times = Times(points)
        return sum(bad(times, time, *arguments)
                   for time, events in points
                   for arguments in {arguments for name, arguments in events if name == event})

    return oracle


def unreachable(times, time, c, s):
    """A session that was not ended within a day, of a computer that stayed on the net."""
    answered = lambda at: times.between("net", (c,), at + MINUTE, at + 20 * MINUTE)
    return (answered(time) and all(answered(at) for at in times.all("net", (c,), time, time + DAY))
            and not times.between("ssh_logout", (c, s), time, time + DAY))


def behind(times, time, c):
    """A computer that is on the net, alive, long without update, and does not ask for one."""
    one = (c,)
    return (times.between("net", one, time + 10 * MINUTE, time + 20 * MINUTE)
            and times.between("alive", one, time - 2 * DAY, time - DAY)
            and not times.between("upd_success", one, time - 3 * DAY, time)
            and not times.between("upd_connect", one, time, time + 20 * MINUTE))


def dropped(times, time, c):
    """An update that was begun by a computer that lives on, and neither done nor skipped."""
    return (times.between("alive", (c,), time + 5 * MINUTE, time + 20 * MINUTE)
            and not times.between("upd_success", (c,), time, time + 30 * MINUTE)
            and not times.between("upd_skip", (c,), time, time + 30 * MINUTE))


def updated(days):
    return lambda times, time, c, *_: not times.between("upd_success", (c,), time - days * DAY, time)


POLICIES = [
    Workload("P1", "G forall c, t. auth(c, t) -> 1000 < t", COMPUTERS,
             "auth(c,t) IMPLIES 1000 < t", computers, judged("auth", lambda times, time, c, t: t <= 1000)),
    Workload("P2", "G forall c, t. auth(c, t) -> O[0,3d] F[0,0] upd_success(c)", COMPUTERS,
             "auth(c,t) IMPLIES (ONCE[0,3d] EVENTUALLY[0,0] upd_success(c))", computers, judged("auth", updated(3))),
    Workload("P3", "G forall c, s. ssh_login(c, s) & F[1m,20m] net(c) & G[0,1d] H[0,0] (net(c) -> F[1m,20m] net(c)) "
             "-> F[0,1d] O[0,0] ssh_logout(c, s)", COMPUTERS,
             "(ssh_login(c,s) AND (EVENTUALLY[1m,20m] net(c)) AND NOT (EVENTUALLY[0,1d] ONCE[0,0] (net(c) AND NOT "
             "EVENTUALLY[1m,20m] net(c)))) IMPLIES (EVENTUALLY[0,1d] ONCE[0,0] ssh_logout(c,s))",
             computers, judged("ssh_login", unreachable)),
    Workload("P4", "G forall c. net(c) & F[10m,20m] net(c) & O[1d,2d] alive(c) & !O[0,3d] F[0,0] upd_success(c) "
             "-> F[0,20m] O[0,0] upd_connect(c)", COMPUTERS,
             "(net(c) AND (EVENTUALLY[10m,20m] net(c)) AND (ONCE[1d,2d] alive(c)) AND NOT (ONCE[0,3d] EVENTUALLY[0,0] "
             "upd_success(c))) IMPLIES (EVENTUALLY[0,20m] ONCE[0,0] upd_connect(c))", computers, judged("net", behind)),
    Workload("P5", "G forall c. upd_connect(c) & F[5m,20m] alive(c) -> F[0,30m] O[0,0] (upd_success(c) | upd_skip(c))", COMPUTERS,
             "(upd_connect(c) AND (EVENTUALLY[5m,20m] alive(c))) IMPLIES (EVENTUALLY[0,30m] ONCE[0,0] (upd_success(c) OR "
             "upd_skip(c)))", computers, judged("upd_connect", dropped)),
    Workload("P6", "G forall c. upd_skip(c) -> O[0,1d] F[0,0] upd_success(c)", COMPUTERS,
             "upd_skip(c) IMPLIES (ONCE[0,1d] EVENTUALLY[0,0] upd_success(c))", computers, judged("upd_skip", updated(1))),
]


# --- Windows and joins -------------------------------------------------------------------------------------------------

def pairs(names, values, answered):
    """Two kinds of events over so many values, ten at a second; a share of the values comes again in the other kind."""

    def log(dice, events):
        points, recent = [], []
        for point in range(max(1, events // 10)):
            here = []
            for _ in range(10):
                if recent and dice.random() < 0.5:
                    value = recent[dice.randrange(len(recent))] if dice.random() < answered else (dice.randrange(values),)
                    here.append((names[1], value))
                else:
                    value = (dice.randrange(values),)
                    here.append((names[0], value))
                    recent.append(value)
                    if len(recent) > 4_000:
                        recent[dice.randrange(4_000)] = recent.pop()
            points.append((point, here))
        return points

    return log


def window(first, then, width):
    """`then(r) -> O[0,width] first(r)`"""

    def oracle(points):
        last, count = {}, 0
        for time, events in points:
            last.update((value, time) for event, value in events if event == first)
            asked = {value for event, value in events if event == then}
            count += sum(time - last.get(value, float("-inf")) > width for value in asked)
        return count

    return oracle


def deadline(first, then, width):
    """`first(r) -> F[0,width] then(r)`: the same backwards."""
    mirrored = window(then, first, width)
    return lambda points: mirrored([(-time, events) for time, events in reversed(points)])


def trades(dice, events):
    """Accounts are opened at brokers and closed, brokers list shares of groups, and accounts trade in shares."""
    accounts, brokers, shares = max(10, events // 50), max(4, events // 500), 200
    points, opened = [], []
    for point in range(max(1, events // 5)):
        here = []
        for _ in range(5):
            draw = dice.random()
            if draw < 0.25:
                one = (dice.randrange(accounts), dice.randrange(brokers))
                here.append(("opened", one))
                opened.append(one)
            elif draw < 0.4 and opened:
                here.append(("closed", opened.pop(dice.randrange(len(opened)))))
            elif draw < 0.6:
                here.append(("listed", (dice.randrange(brokers), dice.randrange(20))))
            elif draw < 0.7:
                here.append(("holds", (dice.randrange(20), dice.randrange(shares))))
            else:
                account = opened[dice.randrange(len(opened))][0] if opened and dice.random() < 0.7 else dice.randrange(accounts)
                here.append(("trade", (account, dice.randrange(20 if dice.random() < 0.5 else shares))))
        points.append((point, here))
    return points


def joined(three):
    """Trades of an account that has no broker, open and at a recent time lister of what is traded."""

    def oracle(points):
        held, listed, holds, count = defaultdict(set), {}, {}, 0
        for time, events in points:
            # An account that is closed and opened at one point is open.
            for event, (a, b) in events:
                if event == "closed":
                    held[a].discard(b)
            for event, (a, b) in events:
                if event == "opened":
                    held[a].add(b)
                elif event in ("listed", "holds"):
                    (listed if event == "listed" else holds)[a, b] = time
            recent = lambda table, key: time - table.get(key, float("-inf")) <= 600
            for a, b in {arguments for event, arguments in events if event == "trade"}:
                groups = [g for g in range(20) if recent(holds, (g, b))] if three else [b]
                count += not any(recent(listed, (c, g)) for c in held[a] for g in groups)
        return count

    return oracle


TRADES = "opened(a: int, c: int) closed(a: int, c: int) listed(c: int, g: int) holds(g: int, b: int) trade(a: int, b: int)"
REPORTS = "approve(r: int) publish(r: int)"


def approvals(name, values, width):
    return Workload(name, f"G forall r. publish(r) -> O[0,{width}] approve(r)", REPORTS,
                    f"publish(r) IMPLIES (ONCE[0,{width}] approve(r))", pairs(("approve", "publish"), values, 0.9),
                    window("approve", "publish", width))


WINDOWS = [
    approvals("window of 600 s, 5,000 values", 5_000, 600),
    approvals("window of 600 s, 1,000,000 values", 1_000_000, 600),
    # Nothing leaves it, so that it holds half as many values as there are events: a million of two million.
    approvals("window of all, 100,000,000 values", 100_000_000, 10**8),
    Workload("deadline of 600 s, 1,000,000 values", "G forall r. request(r) -> F[0,600] answer(r)",
             "request(r: int) answer(r: int)", "request(r) IMPLIES (EVENTUALLY[0,600] answer(r))",
             pairs(("request", "answer"), 1_000_000, 0.9), deadline("request", "answer", 600)),
    Workload("join of two", "G forall a, b. trade(a, b) -> exists c. (!closed(a, c) S opened(a, c)) & O[0,600] listed(c, b)", TRADES,
             "trade(a,b) IMPLIES (EXISTS c. (((NOT closed(a,c)) SINCE opened(a,c)) AND (ONCE[0,600] listed(c,b))))",
             trades, joined(False)),
    Workload("join of three", "G forall a, b. trade(a, b) -> exists c, g. (!closed(a, c) S opened(a, c)) & O[0,600] listed(c, g) "
             "& O[0,600] holds(g, b)", TRADES,
             "trade(a,b) IMPLIES (EXISTS c, g. (((NOT closed(a,c)) SINCE opened(a,c)) AND (ONCE[0,600] listed(c,g)) AND "
             "(ONCE[0,600] holds(g,b))))", trades, joined(True)),
]
