"""Ctrl-C ends a verb at once, and other threads run while one works."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tracewise as tw


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c():
    program = textwrap.dedent(
        """
        import sys, tracewise as tw
        rows = {"p": [i % 3 == 0 for i in range(300000)], "q": [i % 7 == 0 for i in range(300000)]}
        print("ready", flush=True)
        try:
            # Naive evaluation takes many minutes.
            tw.check("G (p -> F (q & F (p & F (q & X q))))", rows, engine="reference")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            import os; os._exit(7)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    try:
        rest, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert rest == "interrupted\n" and child.returncode == 7


def test_the_gil_is_free():
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    data = {"p": [at % 3 == 0 for at in range(3000)], "q": [at % 1000 == 7 for at in range(3000)]}
    began = time.monotonic()
    tw.check("G (p -> F q)", data, engine="reference")
    elapsed, ticks = time.monotonic() - began, counted[0]
    done.set()
    thread.join()
    assert elapsed < 0.05 or ticks > 3


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_who_is_interrupted_works_no_more():
    program = textwrap.dedent(
        """
        import resource, time, tracewise as tw
        length = 60_000
        rows = {"event": ["pqr"[i * i % 3] if i % 5 else "r" for i in range(length)], "id": [i * 7919 % length for i in range(length)]}
        rows["b"] = [i % 97 for i in range(length)]
        print("ready", flush=True)
        try:
            tw.check("G forall x. p(id: x) -> ((exists y. q(id: y, b: x) & !r(id: y)) U r(id: x))", rows, memory="8GB")
            print("done", flush=True)
        except KeyboardInterrupt:
            used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            time.sleep(1)
            before = used()
            time.sleep(1)
            print("idle" if used() - before < 0.2 else "busy", flush=True)
            import os; os._exit(0)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    try:
        rest, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert rest == "idle\n"
