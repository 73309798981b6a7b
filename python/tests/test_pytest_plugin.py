"""The fixture: what a test makes a program do is checked when the test ends."""

import pytest

SPEC = 'property paid "every order is paid" : G (order -> F[0,30s] pay);'


def run(pytester: pytest.Pytester, body: str, **outcomes: int):
    pytester.makepyfile(f"SPEC = {SPEC!r}\n" + body)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(**outcomes)
    return result


def test_by_hand(pytester):
    result = run(
        pytester,
        """
def test_good(tracewise):
    with tracewise(SPEC) as trace:
        trace.event("order", user="u1"); trace.event("pay", user="u1")

def test_bad(tracewise):
    with tracewise(SPEC, by="user") as trace:
        trace.event("order", user="u1"); trace.event("order", user="u2"); trace.event("pay", user="u2")

def test_bad_without_a_block(tracewise):
    trace = tracewise(SPEC)
    trace.event("order")
""",
        passed=2,
        failed=1,
        errors=1,
    )
    text = result.stdout.str()
    assert "every order is paid" in text and 'user = "u1"' in text and "✗ F[0,30s] pay" in text


def test_a_file_and_a_wrong_specification(pytester):
    pytester.makefile(".tw", orders=SPEC)
    run(
        pytester,
        """
import pathlib
def test_file(tracewise):
    with tracewise(pathlib.Path("orders.tw")) as trace:
        trace.event("order"); trace.event("pay")

def test_wrong(tracewise):
    tracewise("G (")

def test_own_failure_is_told_alone(tracewise):
    with tracewise(SPEC) as trace:
        trace.event("order")
        assert False, "mine"
""",
        passed=1,
        failed=2,
    )


def test_logging(pytester):
    result = run(
        pytester,
        """
import logging
log = logging.getLogger("shop")

def program(pays):
    log.info("order %s", 1, extra={"event": "order", "user": "u1"})
    if pays:
        log.debug("pay %s", 1, extra={"event": "pay", "user": "u1"})

def test_good(tracewise):
    with tracewise(SPEC, logger="shop"):
        program(True)

def test_bad(tracewise):
    with tracewise(SPEC, logger="shop"):
        program(False)

def test_templates(tracewise):
    with tracewise('event order(n: int) = text "order {n:int}"; property few : G forall n. order(n) -> n < 1;', logger=log):
        program(True)
""",
        passed=1,
        failed=2,
    )
    assert "n = 1" in result.stdout.str()


def test_an_order_bug_in_asyncio(pytester):
    run(
        pytester,
        """
import asyncio, random

async def ship(trace, order, careful):
    if careful:
        await order["paid"].wait()
    await asyncio.sleep(0)
    trace.event("ship", id=order["id"])

async def pay(trace, order, delay):
    for _ in range(delay):
        await asyncio.sleep(0)
    trace.event("pay", id=order["id"])
    order["paid"].set()

async def shop(trace, careful, seed):
    draw = random.Random(seed)
    orders = [{"id": number, "paid": asyncio.Event()} for number in range(5)]
    await asyncio.gather(*(task for order in orders for task in
                           (ship(trace, order, careful), pay(trace, order, draw.randrange(3)))))

def test_careful(tracewise):
    with tracewise("G forall i. ship(id: i) -> O pay(id: i)") as trace:
        asyncio.run(shop(trace, True, 1))

def test_careless(tracewise):
    with tracewise("G forall i. ship(id: i) -> O pay(id: i)") as trace:
        asyncio.run(shop(trace, False, 1))
""",
        passed=1,
        failed=1,
    )


def test_the_example(pytester, root):
    for name in ("shop.py", "shop.tw", "test_shop.py"):
        (pytester.path / name).write_text((root / "examples" / "python" / name).read_text())
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    assert "nothing is shipped before it is paid" in text and "ship(id: i)" in text and "1 of 2 properties do not hold on 60 events" in text


def test_the_fixture_as_documented(pytester):
    pytester.makepyfile(
        """
import tracewise as tw
spec = tw.Spec('property paid "every order is paid" : G (order -> F[0,30s] pay);')

def test_orders(tracewise):
    with tracewise(spec) as trace:
        trace.event("order", user="u1"); trace.event("pay", user="u1")
"""
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
