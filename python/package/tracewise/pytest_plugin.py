"""A fixture that checks what a test makes a program do.

    def test_orders(tracewise):
        with tracewise("G (order -> F pay)") as trace:
            trace.event("order", user="u1")
            trace.event("pay", user="u1")
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager
from os import PathLike, fspath
from types import TracebackType
from typing import Any

import pytest

from ._native import Property, Report, Spec
from .recording import LoggingTrace, SpanProcessor, Trace


class Checked(Trace, AbstractContextManager["Checked"]):
    """A trace that is checked when its block ends, or its test."""

    def __init__(self, spec: Spec | str, logger: Any, allow_unknown: bool, options: dict[str, Any]) -> None:
        super().__init__(spec, **options)
        self.done = False
        self._allow_unknown = allow_unknown
        self._handler: LoggingTrace | None = None
        self._logger: logging.Logger | None = None
        if logger:
            self._logger = logger if isinstance(logger, logging.Logger) else logging.getLogger(None if logger is True else logger)
            self._level = self._logger.level
            self._handler = LoggingTrace(self)
            self._logger.addHandler(self._handler)
            if self._logger.getEffectiveLevel() > logging.DEBUG:
                self._logger.setLevel(logging.DEBUG)

    def span_processor(self) -> SpanProcessor:
        """A span processor of OpenTelemetry that adds to this trace: give it to a tracer provider."""
        return SpanProcessor(trace=self)

    def __enter__(self) -> Checked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()
        if kind is not None:
            # A test that fails by itself has said why.
            self.done = True
        self.judge()

    def close(self) -> None:
        """Stops recording."""
        if self._logger is not None and self._handler is not None:
            self._logger.removeHandler(self._handler)
            self._logger.setLevel(self._level)
            self._handler = None

    def judge(self) -> None:
        """Fails the test if a property does not hold."""
        __tracebackhide__ = True
        if self.done:
            return
        self.done = True
        self.close()
        if not self.rows:
            pytest.fail("the trace has no events, so there is nothing to check", pytrace=False)
        report = self.check()
        bad = [own for own in report.properties if failing(own, self._allow_unknown)]
        if bad:
            pytest.fail(told(report, bad), pytrace=False)


def failing(own: Property, allow_unknown: bool) -> bool:
    if own.verdict == "unknown":
        return not allow_unknown
    return own.verdict == "violated" and own.severity == "error"


def told(report: Report, bad: list[Property]) -> str:
    """What is wrong, and why."""
    parts = []
    for own in bad:
        title = f" ({own.title})" if own.title else ""
        explained = own.explain(0).rstrip() if own.verdict == "violated" else f"{own.name} is unknown"
        more = f"\n… and {own.violation_count - 1} more violations" if own.violation_count > 1 else ""
        parts.append(f"{own.formula}{title}\n{explained}{more}")
    return f"{len(bad)} of {len(report)} properties do not hold on {report.events} events\n\n" + "\n\n".join(parts)


class Factory:
    """What the fixture hands over: call it with a specification for each trace."""

    def __init__(self) -> None:
        self.traces: list[Checked] = []

    def __call__(
        self,
        spec: Spec | str | PathLike[str],
        *,
        logger: logging.Logger | str | bool | None = None,
        allow_unknown: bool = True,
        **options: Any,
    ) -> Checked:
        """A trace to add events to. `logger` (a logger, its name, or True for all) adds what is logged."""
        own = spec if isinstance(spec, Spec) else Spec(fspath(spec))
        trace = Checked(own, logger, allow_unknown, options)
        self.traces.append(trace)
        return trace


@pytest.fixture
def tracewise() -> Iterator[Factory]:
    """Traces of a test, checked when their block ends, or at the end of the test."""
    __tracebackhide__ = True
    factory = Factory()
    yield factory
    for trace in factory.traces:
        trace.judge()
