"""Run with `pytest examples/python` where the package `tracewise` is installed: the second test fails, and says which order was
shipped before it was paid, and when. A test that looks at the end of the day alone does not see that: everything is paid by then."""

import asyncio
from pathlib import Path

from shop import Shop, day

SPEC = Path(__file__).with_name("shop.tw")


def test_a_careful_shop(tracewise):
    with tracewise(SPEC, logger="shop"):
        asyncio.run(day(Shop(careful=True)))


def test_a_careless_shop(tracewise):
    with tracewise(SPEC, logger="shop"):
        asyncio.run(day(Shop(careful=False, seed=1)))
