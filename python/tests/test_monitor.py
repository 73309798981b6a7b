import threading

import pytest

import tracewise as tw


def test_push_pending_settle_and_restore():
    spec = tw.Spec("property answered : G (req -> F[0,5s] ack); query n : count[req] ?? 0;")
    monitor = tw.Monitor(spec)
    assert monitor.push(time=10, event="req") == []
    (owed,) = monitor.pending
    assert (owed.property, owed.since, owed.deadline) == ("answered", 0, 15)
    assert {end.property: (end.verdict, end.value, end.settled) for end in monitor.settle()} == {
        "answered": ("violated", None, False),
        "n": (None, 1, False),
    }
    state = monitor.save()
    assert monitor.advance(15) == []
    (late,) = monitor.advance(16)
    assert (late.position, late.time, late.settled_time, late.count) == (0, 10, 15, 1)
    again = spec.monitor(state=state)
    assert again.positions == 1 and again.push({"time": 12, "event": "ack"}) == []
    assert all(own.deadline is None for own in again.pending) and again.advance(100) == []
    with pytest.raises(tw.Error, match="damaged"):
        spec.monitor(state=state[:-1])
    with pytest.raises(tw.Error, match="a time that has passed"):
        again.push(time=3, event="req")
    with pytest.raises(tw.Error, match="every position needs one"):
        again.push(event="req")


def test_states_move_between_processes_and_orders():
    spec = tw.Spec("property a : G (p -> F q); property b : G (x < 3);")
    rows = [{"p": at % 3 == 0, "q": at % 5 == 0, "x": at % 4, "user": at % 7} for at in range(100)]
    whole = spec.monitor(by="user")
    expected = [repr(v) for v in whole.feed(rows)]
    for cut in (1, 33, 99):
        first = spec.monitor(by="user")
        told = [repr(v) for v in first.feed(rows[:cut])]
        second = spec.monitor(by="user", state=first.save())
        assert told + [repr(v) for v in second.feed(rows[cut:])] == expected
        assert repr(second.settle()) == repr(whole.settle())
    assert whole.feed([{"p": False, "q": False, "x": 9, "user": 4}])[0].bindings == {"user": 4}


def test_variables_and_parametric_monitors():
    text = """
    property approved : G forall r. publish(report: r) -> O approve(report: r);
    monitor Twice(file) { event open(file); event close(file); fsm : shut [ open -> ready ] ready [ close -> shut ]; }
    """
    monitor = tw.Spec(text).monitor()
    assert monitor.push(event="approve", report=160) == []
    assert monitor.push(event="publish", report=160) == []
    (found,) = monitor.push(event="publish", report=163)
    assert (found.property, found.bindings, found.position) == ("approved", {"r": 163}, 2)
    assert monitor.push(event="open", file="a") == []
    (found,) = monitor.push(event="open", file="a")
    assert (found.property, found.category, found.bindings) == ("Twice", "fail", {"file": "a"})


def test_threads_share_a_monitor():
    monitor = tw.Monitor("G (x < 3)")
    found = []

    def work():
        for at in range(500):
            found.extend(monitor.push(x=at % 4))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert monitor.positions == 2000 and len(found) == 500


def test_what_a_monitor_refuses():
    with pytest.raises(tw.Error, match="rows or batches"):
        tw.Monitor("G x").feed("file.csv")
    with pytest.raises(tw.Error, match="position 0"):
        tw.Monitor("G (x < 3)").push(x="many")
    with pytest.raises(tw.Error):
        tw.Monitor("G (x < 3)").feed({"y": [1]})
