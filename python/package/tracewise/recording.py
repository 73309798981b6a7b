"""What a program does, as events: recorded by hand, from `logging`, or from OpenTelemetry spans."""

from __future__ import annotations

import logging
import threading
import time as clock
from collections.abc import Callable
from typing import Any

from ._native import Monitor, Report, Spec, Violation

# What every record of `logging` has; the rest is what the caller put into `extra`.
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}

# Values that a trace can hold.
_PLAIN = (str, int, float, bool, type(None), list, tuple, dict)


def of_record(record: logging.LogRecord) -> dict[str, Any]:
    """A record of `logging` as a row: `text`, `level`, `logger`, `event` if `extra` has one, and all else in `extra`."""
    row = {
        name: value if isinstance(value, _PLAIN) else str(value)
        for name, value in record.__dict__.items()
        if name not in _STANDARD
    }
    row.setdefault("text", record.getMessage())
    row.setdefault("level", record.levelname)
    row.setdefault("logger", record.name)
    row.setdefault("time", record.created)
    return row


def of_span(span: Any, start: bool) -> dict[str, Any]:
    """A span of OpenTelemetry as a row, named as in the format `otlp-json`: `span_start` or `span_end`."""
    context, parent = span.get_span_context(), getattr(span, "parent", None)
    resource = getattr(span, "resource", None)
    begun, ended = span.start_time, getattr(span, "end_time", None)
    row: dict[str, Any] = {
        "event": "span_start" if start else "span_end",
        "name": span.name,
        "service": resource.attributes.get("service.name") if resource is not None else None,
        "trace_id": format(context.trace_id, "032x"),
        "span_id": format(context.span_id, "016x"),
        "parent_id": format(parent.span_id, "016x") if parent is not None else None,
        "time": (begun if start or ended is None else ended) / 1e9,
        "attributes": {
            name: value if isinstance(value, _PLAIN) else str(value) for name, value in (span.attributes or {}).items()
        },
    }
    if not start and ended is not None:
        row["duration"] = (ended - begun) / 1e9
        row["status"] = span.status.status_code.name
    return row


class Trace:
    """The events of a program, in the order in which they came. Threads and tasks may add to one."""

    def __init__(self, spec: Spec | str, **options: Any) -> None:
        self.spec = spec if isinstance(spec, Spec) else Spec(spec)
        self.options = options
        self.rows: list[dict[str, Any]] = []
        self.report: Report | None = None
        self._lock = threading.Lock()
        self._began = clock.monotonic()
        self._time = options.get("time") or "time"
        self._event = options.get("event") or "event"
        self._last = 0.0

    def event(self, name: str, /, **values: Any) -> None:
        """Something happens, now or at the time that is given."""
        self.row({self._event: name, **values})

    def state(self, **values: Any) -> None:
        """What variables are now."""
        self.row(values)

    def row(self, values: dict[str, Any]) -> None:
        """A position, as a row of a table is one."""
        with self._lock:
            if self._time not in values:
                # Clocks of one process do not go back, and neither do positions.
                self._last = max(self._last, round(clock.monotonic() - self._began, 9))
                values = {self._time: self._last, **values}
            self.rows.append(values)

    def check(self) -> Report:
        """What the specification says of the events so far."""
        with self._lock:
            rows = list(self.rows)
        self.report = self.spec.check(rows, **self.options)
        return self.report


class LoggingTrace(logging.Handler):
    """A handler of `logging` that adds records to a trace."""

    def __init__(self, trace: Trace, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.trace = trace

    def emit(self, record: logging.LogRecord) -> None:
        row = of_record(record)
        if "time" not in record.__dict__:
            # One clock for all that is recorded.
            del row["time"]
        self.trace.row(row)


class Handler(logging.Handler):
    """A handler of `logging` that monitors records as they come.

    `on_violation` is called with each violation; without it, violations are logged by the logger `tracewise` as errors.
    """

    def __init__(
        self,
        spec: Spec | str,
        *,
        on_violation: Callable[[Violation], object] | None = None,
        level: int = logging.NOTSET,
        **options: Any,
    ) -> None:
        super().__init__(level)
        self.monitor = Monitor(spec, **options)
        self.violations: list[Violation] = []
        self._tell = on_violation
        self._last = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "tracewise":
            return
        try:
            row = of_record(record)
            if "time" not in record.__dict__:
                # Records of several threads may come late by a little.
                self._last = row["time"] = max(self._last, record.created)
            found = self.monitor.push(row)
        except Exception:
            self.handleError(record)
            return
        for violation in found:
            self.violations.append(violation)
            if self._tell is not None:
                self._tell(violation)
            else:
                logging.getLogger("tracewise").error("%r", violation)


class SpanProcessor:
    """A span processor of OpenTelemetry that monitors spans as they start and end, or adds them to a trace."""

    def __init__(
        self,
        spec: Spec | str | None = None,
        *,
        trace: Trace | None = None,
        on_violation: Callable[[Violation], object] | None = None,
        **options: Any,
    ) -> None:
        if (spec is None) == (trace is None):
            raise TypeError("a specification to monitor, or a trace to add to: one of both")
        self.monitor = Monitor(spec, **options) if spec is not None else None
        self.trace = trace
        self.violations: list[Violation] = []
        self._tell = on_violation
        self._last = 0.0
        self._lock = threading.Lock()

    def _take(self, row: dict[str, Any]) -> None:
        if self.trace is not None:
            row.pop("time")
            self.trace.row(row)
            return
        assert self.monitor is not None
        try:
            with self._lock:
                self._last = row["time"] = max(self._last, row["time"])
                found = self.monitor.push(row)
        except Exception:
            # Who ends a span is not to fail because it could not be judged.
            logging.getLogger("tracewise").exception("a span could not be judged")
            return
        for violation in found:
            self.violations.append(violation)
            if self._tell is not None:
                self._tell(violation)
            else:
                logging.getLogger("tracewise").error("%r", violation)

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self._take(of_span(span, start=True))

    def _on_ending(self, span: Any) -> None:
        pass

    def on_end(self, span: Any) -> None:
        self._take(of_span(span, start=False))

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True
