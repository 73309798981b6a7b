"""A shop that ships what was paid, in asyncio; with a bug that shows itself now and then: it forgets to wait."""

import asyncio
import logging
import random

log = logging.getLogger("shop")


class Shop:
    def __init__(self, careful: bool, seed: int | None = None) -> None:
        self.careful = careful
        self.draw = random.Random(seed)

    async def order(self, number: int) -> None:
        """An order: it is paid and shipped, each in a task of its own."""
        log.info("ordered", extra={"event": "order", "id": number})
        paid = asyncio.Event()
        await asyncio.gather(self.pay(number, paid), self.ship(number, paid))

    async def pay(self, number: int, paid: asyncio.Event) -> None:
        # The bank takes its time.
        for _ in range(self.draw.randrange(4)):
            await asyncio.sleep(0)
        log.info("paid", extra={"event": "pay", "id": number})
        paid.set()

    async def ship(self, number: int, paid: asyncio.Event) -> None:
        if self.careful:
            await paid.wait()
        else:
            # "It is always paid by then."
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        log.info("shipped", extra={"event": "ship", "id": number})


async def day(shop: Shop, orders: int = 20) -> None:
    """So many orders at once."""
    await asyncio.gather(*(shop.order(number) for number in range(orders)))
