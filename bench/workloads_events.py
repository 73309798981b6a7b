"""Six properties of single events without times, as DejaVu is measured by: access to files, files and their modes, a queue,
locks, the order of locks, data races. The logs are synthetic; see bench/workloads.py.
"""

from collections import defaultdict

from workloads import Workload


def one_by_one(events):
    """Points with one event each; the time is the position."""
    return [(at, [event]) for at, event in enumerate(events)]


def each(points):
    for _, events in points:
        yield events[0]


# --- Access: who accesses a file is logged in, and the file is open ---------------------------------------------------

def accesses(dice, events):
    users, files = max(4, events // 100), max(4, events // 20)
    logged, opened, out = [], [], []
    while len(out) < events:
        draw = dice.random()
        if draw < 0.05 or not logged:
            user = (dice.randrange(users),)
            logged.append(user)
            out.append(("login", user))
        elif draw < 0.08:
            out.append(("logout", logged.pop(dice.randrange(len(logged)))))
        elif draw < 0.45 or not opened:
            file = (f"f{dice.randrange(files)}",)
            opened.append(file)
            out.append(("open", file))
        elif draw < 0.75:
            out.append(("close", opened.pop(dice.randrange(len(opened)))))
        else:
            user, file = dice.choice(logged), dice.choice(opened[-50:])
            if dice.random() < 0.02:
                user = (dice.randrange(users),)
            out.append(("access", user + file))
    return one_by_one(out)


def accesses_oracle(points):
    logged, opened, count = set(), set(), 0
    for event, arguments in each(points):
        if event in ("login", "logout"):
            (logged.add if event == "login" else logged.discard)(arguments[0])
        elif event in ("open", "close"):
            (opened.add if event == "open" else opened.discard)(arguments[0])
        else:
            count += arguments[0] not in logged or arguments[1] not in opened
    return count


# --- Files: what is closed was opened before, in some mode ------------------------------------------------------------

def files(dice, events):
    names = max(4, events // 10)
    opened, out = [], []
    while len(out) < events:
        if dice.random() < 0.55 or not opened:
            opened.append(f"f{dice.randrange(names)}")
            out.append(("open", (opened[-1], dice.choice(("read", "write", "append")))))
        elif dice.random() < 0.02:
            out.append(("close", (f"f{dice.randrange(names)}",)))
        else:
            out.append(("close", (opened.pop(dice.randrange(len(opened))),)))
    return one_by_one(out)


def files_oracle(points):
    opened, count = set(), 0
    for event, arguments in each(points):
        if event == "open":
            opened.add(arguments[0])
        else:
            count += arguments[0] not in opened
            opened.discard(arguments[0])
    return count


# --- Queue: what enters leaves once, in the order of entering ---------------------------------------------------------

def queue(dice, events):
    waiting, number, out, rare = [], 0, [], max(0.001, 4 / events)
    while len(out) < events:
        if len(waiting) < 2 or dice.random() < 0.5 and len(waiting) < 40:
            number += 1
            waiting.append(number)
            out.append(("enter", (number,)))
            if dice.random() < rare:
                out.append(("enter", (number,)))
        else:
            # Sometimes the second goes before the first, which then follows.
            if dice.random() < 2 * rare:
                waiting[0], waiting[1] = waiting[1], waiting[0]
            gone = waiting.pop(0)
            out.append(("exit", (gone,)))
            if dice.random() < rare:
                out.append(("exit", (gone,)))
    return one_by_one(out)


def queue_oracle(points):
    first, last, gone, count = {}, {}, set(), 0
    inside = []  # in the order of entering, those that are gone left out now and then
    for at, (event, (x,)) in enumerate(each(points)):
        if event == "enter":
            count += x in first
            if x not in first:
                inside.append(x)
            first.setdefault(x, at)
            last[x] = at
            continue
        bad = set()
        if x in gone or x not in first:
            bad.add(x)
        if x in last:
            inside = [y for y in inside if y not in gone]
            for y in inside:
                if first[y] >= last[x]:
                    break
                bad.add(y)
        count += len(bad)
        gone.add(x)
    return count


# --- Locks: a thread sleeps without locks, a lock has one thread, and its thread releases it -------------------------

def locks(dice, events):
    threads, count = max(4, min(200, events // 50)), max(4, min(1_000, events // 20))
    owner, held, out = {}, defaultdict(set), []
    while len(out) < events:
        thread, lock, draw = dice.randrange(threads), dice.randrange(count), dice.random()
        wrong = dice.random() < max(0.005, 10 / events)
        if draw < 0.45:
            if lock not in owner or wrong:
                owner[lock] = thread
                held[thread].add(lock)
                out.append(("acq", (thread, lock)))
        elif draw < 0.95:
            if held[thread] or wrong:
                lock = lock if wrong or not held[thread] else next(iter(held[thread]))
                held[thread].discard(lock)
                owner.pop(lock, None)
                out.append(("rel", (thread, lock)))
        elif not held[thread] or wrong:
            out.append(("sleep", (thread,)))
    return one_by_one(out)


def locks_oracle(points):
    owners, held, count = defaultdict(set), defaultdict(set), 0
    for event, arguments in each(points):
        thread = arguments[0]
        if event == "sleep":
            count += len(held[thread])
            continue
        lock = arguments[1]
        if event == "acq":
            count += bool(owners[lock])
            owners[lock].add(thread)
            held[thread].add(lock)
        else:
            count += thread not in owners[lock]
            owners[lock].discard(thread)
            held[thread].discard(lock)
    return count


# --- Order of locks: no two threads take two locks in opposite order --------------------------------------------------

def orders(dice, events):
    threads, count = max(3, min(50, events // 100)), max(6, min(500, events // 40))
    out, before = [], []
    while len(out) < events:
        thread = dice.randrange(threads)
        taken = sorted(dice.sample(range(count), 2))
        before.append(taken)
        if dice.random() < max(0.001, 5 / events) and len(out) > events // 2:
            taken = dice.choice(before)[::-1]
        out += [("acq", (thread, lock)) for lock in taken] + [("rel", (thread, lock)) for lock in reversed(taken)]
    return one_by_one(out[:events])


def orders_oracle(points):
    held, taken, count = defaultdict(set), defaultdict(set), 0
    for event, (thread, lock) in each(points):
        if event == "acq":
            # Before this event: who took which lock while holding which. One that is taken again is held before, too.
            count += sum(len(taken[lock, other]) for other in held[thread])
            for other in held[thread]:
                taken[other, lock].add(thread)
            held[thread].add(lock)
        else:
            held[thread].discard(lock)
    return count


# --- Data races: threads that share a variable, one of them writing, share a lock at every access --------------------

def races(dice, events):
    threads, variables = max(3, min(20, events // 200)), max(4, min(200, events // 50))
    out = []
    while len(out) < events:
        thread, variable = dice.randrange(threads), dice.randrange(variables)
        access = (dice.choice(("read", "write")), (thread, variable))
        # A variable has its lock; once a race is there it stays, so that it comes at the end.
        late = len(out) > events - max(40, events // 1000)
        lock = variable if not late or dice.random() < 0.7 else variable + variables
        out += [("acq", (thread, lock)), access, ("rel", (thread, lock))]
    return one_by_one(out[:events])


def races_oracle(points):
    held, kept, users, writers = defaultdict(set), {}, defaultdict(set), defaultdict(set)
    racing, total, count = {}, 0, 0
    for event, (thread, other) in each(points):
        if event in ("acq", "rel"):
            (held[thread].add if event == "acq" else held[thread].discard)(other)
        else:
            now = frozenset(held[thread])
            kept[thread, other] = kept.get((thread, other), now) & now
            users[other].add(thread)
            if event == "write":
                writers[other].add(thread)
            here = sum(not kept[a, other] & kept[b, other] for a in users[other] for b in writers[other])
            total += here - racing.get(other, 0)
            racing[other] = here
        count += total
    return count


def held(thread, lock):
    return f"(!rel({thread}, {lock}) S acq({thread}, {lock}))"


def monpoly_held(thread, lock):
    return f"((NOT rel({thread},{lock})) SINCE acq({thread},{lock}))"


LOCKED = "acq(t: int, l: int) rel(t: int, l: int) sleep(t: int)"
ACCESSES = "read(t: int, x: int) write(t: int, x: int) acq(t: int, l: int) rel(t: int, l: int)"

EVENTS = [
    Workload("access", "G forall u, f. access(u, f) -> (!logout(u) S login(u)) & (!close(f) S open(f))",
             "access(u: int, f: string) login(u: int) logout(u: int) open(f: string) close(f: string)",
             "access(u,f) IMPLIES (((NOT logout(u)) SINCE login(u)) AND ((NOT close(f)) SINCE open(f)))",
             accesses, accesses_oracle, timed=False),
    Workload("files", "G forall f. close(f) -> exists m. Y (!close(f) S open(f, m))", "open(f: string, m: string) close(f: string)",
             "close(f) IMPLIES (EXISTS m. PREV ((NOT close(f)) SINCE open(f,m)))", files, files_oracle, timed=False),
    Workload("queue", "G forall x. (enter(x) -> !Y O enter(x)) & (exit(x) -> !Y O exit(x)) & (exit(x) -> Y O enter(x)) "
             "& forall y. exit(y) & O (enter(y) & Y O enter(x)) -> Y O exit(x)", "enter(x: int) exit(x: int)",
             "(enter(x) IMPLIES NOT PREV ONCE enter(x)) AND (exit(x) IMPLIES NOT PREV ONCE exit(x)) AND (exit(x) IMPLIES PREV "
             "ONCE enter(x)) AND (FORALL y. ((exit(y) AND ONCE (enter(y) AND PREV ONCE enter(x))) IMPLIES PREV ONCE exit(x)))",
             queue, queue_oracle, timed=False),
    Workload("locks", f"G forall t, l. (sleep(t) -> !{held('t', 'l')}) & (acq(t, l) -> !exists s. Y {held('s', 'l')}) "
             f"& (rel(t, l) -> Y {held('t', 'l')})", LOCKED,
             f"(sleep(t) IMPLIES NOT {monpoly_held('t', 'l')}) AND (acq(t,l) IMPLIES NOT (EXISTS s. PREV {monpoly_held('s', 'l')})) "
             f"AND (rel(t,l) IMPLIES PREV {monpoly_held('t', 'l')})", locks, locks_oracle, timed=False),
    Workload("orders", f"G forall a, b, l, m. Y {held('a', 'l')} & acq(a, m) -> !Y O (Y {held('b', 'm')} & acq(b, l))",
             "acq(t: int, l: int) rel(t: int, l: int)",
             f"((PREV {monpoly_held('a', 'l')}) AND acq(a,m)) IMPLIES NOT (PREV ONCE ((PREV {monpoly_held('b', 'm')}) AND acq(b,l)))",
             orders, orders_oracle, timed=False),
    Workload("races", f"G forall a, b, x. O (read(a, x) | write(a, x)) & O write(b, x) -> exists l. "
             f"H (read(a, x) | write(a, x) -> {held('a', 'l')}) & H (read(b, x) | write(b, x) -> {held('b', 'l')})", ACCESSES,
             "((ONCE (read(a,x) OR write(a,x))) AND (ONCE write(b,x))) IMPLIES (EXISTS l. (HISTORICALLY ((read(a,x) OR write(a,x)) "
             f"IMPLIES {monpoly_held('a', 'l')})) AND (HISTORICALLY ((read(b,x) OR write(b,x)) IMPLIES {monpoly_held('b', 'l')})))",
             races, races_oracle, timed=False),
]
