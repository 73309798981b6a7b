"""Streams of Spark: a monitor per key, whose state Spark keeps."""

# mypy: disable-error-code="import-untyped,import-not-found"
from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ._native import Monitor, Spec, Violation

_MICROS = "__tracewise_micros"


def keyed(
    spec: Spec, frame: DataFrame, by: str, time: str | None, options: dict[str, Any], result: T.StructType
) -> DataFrame:
    """The violations of each key."""
    if time is not None:
        options = {**options, "time": _MICROS, "time_unit": "us"}
    stamped = isinstance(frame.schema[time].dataType, T.TimestampType) if time is not None else False
    waits = stamped and _has_watermark(frame, time)
    if time is not None:
        own = F.unix_micros(F.col(f"`{time}`")) if stamped else (F.col(f"`{time}`") * 1_000_000).cast("long")
        frame = frame.withColumn(_MICROS, own)
    kept = {by, _MICROS, options.get("event") or spec.trace_settings.get("event") or "event", *spec.columns}
    # Spark looks for the column that has the watermark.
    names = [name for name in frame.columns if name in kept or (waits and name == time)]
    names_of_result = [field for field in result.fields if field.name not in ("kind", "number", "note", "time")]
    micros = T.StructField("time", T.LongType())
    settled = T.StructField("settled_time", T.LongType())
    fields = [*names_of_result, micros, settled, T.StructField("count", T.LongType())]
    processor = _Keyed(spec.text, by, time if waits else None, [field.name for field in fields], options)
    grouped = frame.select(*(F.col(f"`{name}`") for name in names)).groupBy(F.col(f"`{by}`"))
    mode = "EventTime" if waits else "None"
    found = grouped.transformWithState(processor, T.StructType(fields), "append", mode)
    for name in ("time", "settled_time"):
        own = F.timestamp_micros(F.col(name)) if stamped else F.col(name) / 1_000_000
        found = found.withColumn(name, own)
    return found


def _has_watermark(frame: DataFrame, time: str | None) -> bool:
    # Where Spark keeps it: with the column.
    return time is not None and "spark.watermarkDelayMs" in (frame.schema[time].metadata or {})


class _Keyed(StatefulProcessor):
    def __init__(self, spec: str, by: str, time: str | None, names: list[str], options: dict[str, Any]) -> None:
        self.spec, self.by, self.time, self.names, self.options = spec, by, time, names, options

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        # What the monitor is, and the rows that wait for the watermark.
        self.state = handle.getValueState("monitor", "state binary, waiting binary")
        self.monitor = Monitor(self.spec, **self.options)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        drop = {self.by, self.time}
        new = [{name: value for name, value in row.asDict(True).items() if name not in drop} for row in rows]
        yield from self._go_on(key, new, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        yield from self._go_on(key, [], timerValues)

    def _go_on(self, key: Any, new: list[dict[str, Any]], timers: Any) -> Iterator[Row]:
        held = self.state.get() if self.state.exists() else None
        waiting: list[dict[str, Any]] = pickle.loads(held[1]) if held else []
        self.monitor.restore(bytes(held[0]) if held else None)
        ready = waiting + new
        waiting = []
        passed = None
        if self.time is not None:
            passed = timers.getCurrentWatermarkInMs() * 1000
            waiting = [row for row in ready if row[_MICROS] >= passed]
            ready = [row for row in ready if row[_MICROS] < passed]
        if _MICROS in self.options.values():
            ready.sort(key=lambda row: row[_MICROS])
        found: list[Violation] = self.monitor.feed(ready) if ready else []
        if passed is not None and passed > 0:
            found += self.monitor.advance(passed)
        self.state.update((self.monitor.save(), pickle.dumps(waiting)))
        if self.time is not None:
            self._wake(waiting)
        for violation in found:
            yield Row(**self._told(key, violation))

    def _wake(self, waiting: list[dict[str, Any]]) -> None:
        """A timer for the next row that waits, and the next deadline."""
        instants = [row[_MICROS] for row in waiting]
        instants += [own.deadline for own in self.monitor.pending if own.deadline is not None]
        if instants:
            self.handle.registerTimer(int(min(instants)) // 1000 + 1)

    def _told(self, key: Any, own: Violation) -> dict[str, Any]:
        bound = {self.by: key[0], **own.bindings}
        told = {
            "property": own.property,
            "position": own.position,
            "time": own.time,
            "settled_time": own.settled_time,
            "count": own.count,
            "category": own.category,
            "severity": own.severity,
            "text": own.text,
        }
        values = {**bound, **told}
        return {name: values.get(name) for name in self.names}

    def close(self) -> None:
        pass
