"""What runs on the workers of Spark: one call of the library per part, never one per key."""

# mypy: disable-error-code="import-untyped,import-not-found"
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._native import Error, Report, Slices, Spec, Table

# The number of a row, which grows with its position.
AT = "__tracewise_at"
# The slice that a row is needed in.
SLICE = "__tracewise_slice"
# Rows of a partition are numbered by `monotonically_increasing_id` in so many bits.
BITS = 33

Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Parts:
    """Rows of the table that workers hand back."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.facts: list[dict[str, Any]] = []

    def fact(self, kind: str, **values: Any) -> None:
        self.facts.append({"kind": kind, **values})

    def violations(self, of: Table, at: np.ndarray[Any, Any] | None) -> Iterator[pa.RecordBatch]:
        """Violations as they are handed back: `at` are the numbers of the rows."""
        table = pa.table(of)
        if table.num_rows == 0:
            return
        columns = []
        for field in self.schema:
            if field.name == "kind":
                columns.append(pa.array(["violation"]).take(pa.array(np.zeros(table.num_rows, np.int64))))
            elif field.name == "position" and at is not None:
                columns.append(pa.array(at).take(table.column("position").combine_chunks()))
            elif field.name in table.column_names and field.name != "number" and field.name != "note":
                columns.append(_cast(table.column(field.name).combine_chunks(), field.type))
            else:
                columns.append(pa.nulls(table.num_rows, field.type))
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        for start in range(0, batch.num_rows, 65_536):
            yield batch.slice(start, 65_536)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The facts."""
        if self.facts:
            yield pa.RecordBatch.from_pylist(self.facts, schema=self.schema)


def _cast(array: pa.Array, to: pa.DataType) -> pa.Array:
    if array.type == to:
        return array
    if pa.types.is_timestamp(to) and pa.types.is_timestamp(array.type):
        return pc.cast(array, to, safe=False)
    if pa.types.is_boolean(array.type) and pa.types.is_string(to):
        return pc.cast(array, to)
    return pc.cast(array, to)


def _gathered(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    held = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(held) if held else None


def _numbers(table: pa.Table) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = table.column(AT).to_numpy()
    return numbers


def _count(parts: Parts, at: np.ndarray[Any, Any], placed: bool) -> None:
    """How many rows there are, or how many at least in each partition of the numbered data frame."""
    if placed:
        parts.fact("rows", number=len(at))
        return
    partition = at >> BITS
    # Rows are sorted by number: the last of each partition is the largest.
    last = np.flatnonzero(np.append(partition[1:] != partition[:-1], True))
    for own in last:
        parts.fact("rows", position=int(partition[own]), number=int(at[own] & ((1 << BITS) - 1)) + 1)


def _tell(parts: Parts, report: Report) -> None:
    parts.fact("part")
    for own in report.properties:
        parts.fact("verdict", property=own.name, note=own.verdict, number=own.violation_count)
    for warning in report.warnings:
        parts.fact("warning", note=warning)


def in_keys(spec: str, by: str | None, options: dict[str, Any], schema: pa.Schema, placed: bool) -> Work:
    """Checks the rows of a partition, all of its keys at once."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = Parts(schema)
        table = _gathered(batches)
        if table is None:
            return
        at = _numbers(table)
        try:
            report = Spec(spec).check(table.drop_columns([AT]), by=by, explain=False, **options)
            _tell(parts, report)
            yield from parts.violations(report.violations, at)
        except Error as error:
            parts.fact("error", note=str(error))
        _count(parts, at, placed)
        yield from parts.finish()

    return work


def of_slices(spec: str, state: str, options: dict[str, Any], placed: bool) -> Work:
    """Hands each row to the slices that need it, and the number of rows to a slice of its own."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        slices = Slices(Spec(spec), state=state, **options)
        extra, seen, last = len(slices), 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows, numbers = slices.rows(pa.Table.from_batches([batch]).drop_columns([AT]))
            seen += batch.num_rows
            last = batch.slice(batch.num_rows - 1)
            kept = batch.take(pa.array(rows.astype(np.int64)))
            yield _append(kept, pa.array(numbers.astype(np.int32)))
        if last is not None:
            number = seen if placed else last.column(AT)[0].as_py() + 1
            columns = [pa.array([number]) if name == AT else column for name, column in zip(last.schema.names, last.columns)]
            marked = pa.RecordBatch.from_arrays(columns, schema=last.schema)
            yield _append(marked, pa.array([extra], pa.int32()))

    return work


def _append(batch: pa.RecordBatch, numbers: pa.Array) -> pa.RecordBatch:
    schema = batch.schema.append(pa.field(SLICE, pa.int32()))
    return pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=schema)


def in_slices(spec: str, state: str, options: dict[str, Any], schema: pa.Schema, extra: int, placed: bool) -> Work:
    """Evaluates the slices that came to a partition, one call for each."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = Parts(schema)
        table = _gathered(batches)
        if table is None:
            return
        of = table.column(SLICE).to_numpy()
        edges = [0, *(np.flatnonzero(of[1:] != of[:-1]) + 1).tolist(), len(of)]
        slices = Slices(Spec(spec), state=state, **options)
        for begin, end in zip(edges, edges[1:]):
            number = int(of[begin])
            own = table.slice(begin, end - begin)
            if number == extra:
                for at in _numbers(own).tolist():
                    if placed:
                        parts.fact("rows", number=at)
                    else:
                        # One past the last row of a partition.
                        parts.fact("rows", position=(at - 1) >> BITS, number=((at - 1) & ((1 << BITS) - 1)) + 1)
                continue
            positions = np.ascontiguousarray(_numbers(own).astype(np.uint64)).tobytes()
            try:
                violations, counts = slices.check(number, own.drop_columns([AT, SLICE]), positions)
            except Error as error:
                parts.fact("error", note=str(error))
                continue
            for name, count in counts.items():
                parts.fact("verdict", property=name, note="violated" if count else "satisfied", number=count)
            yield from parts.violations(violations, None)
        yield from parts.finish()

    return work
