"""Data frames of Spark: checked in parts on the executors, and monitored as they stream.

    from tracewise import spark
    report = spark.check("G (order -> F[0,30s] pay)", frame, by="user", order="ts")
    report["paid"].verdict, report.violations.show()

    alerts = spark.monitor(spec, stream.withWatermark("ts", "10 seconds"), by="user", time="ts")

Executors need the package and this interpreter; if nothing else is said, workers take the interpreter that imports this module.
"""

# mypy: disable-error-code="import-untyped,import-not-found"
from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from html import escape
from typing import Any, Literal

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PythonException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from ._native import Error, Slices, Spec
from ._spark_worker import AT, SLICE, in_keys, in_slices, of_slices

__all__ = ["CheckedProperty", "SparkReport", "check", "monitor"]

# What is about a report in one place.
_LEFT_OUT = {"concat", "explain", "format", "name", "violations", "witness"}

# What numbers of rows within a partition take of `monotonically_increasing_id`.
_BITS = 33

_Verdict = Literal["satisfied", "violated", "unknown"]


class CheckedProperty:
    """The verdict on one property."""

    def __init__(self, report: SparkReport, name: str, verdict: _Verdict, violation_count: int) -> None:
        self.name = name
        self.verdict = verdict
        self.violation_count = violation_count
        self._report = report

    @property
    def violations(self) -> DataFrame:
        """Its violations, in no order."""
        return self._report.violations.where(F.col("property") == self.name)

    def first(self, count: int = 10) -> list[dict[str, Any]]:
        """Its first violations, in the order of positions."""
        rows = self.violations.orderBy(F.col("position").asc_nulls_last()).limit(count).collect()
        return [row.asDict() for row in rows]

    def explain(self) -> str:
        """Why the first violation is one, in words. The rows of its key come to the driver; positions are those within them."""
        return self._report._explain(self)

    def __repr__(self) -> str:
        mark = {"satisfied": "✓", "violated": "✗"}.get(self.verdict, "?")
        count = f"  {self.violation_count} violations" if self.violation_count else ""
        return f"{mark} {self.name}{count}"


class SparkReport:
    """Verdicts of the properties of a specification on a data frame of Spark."""

    def __init__(self, spec: Spec, facts: dict[str, Any], violations: DataFrame, held: list[DataFrame], rows: _Rows) -> None:
        self.events: int = facts["events"]
        self.warnings: list[str] = facts["warnings"]
        self.plan: list[str] = facts["plan"]
        self.violations = violations
        self.properties = [
            CheckedProperty(self, name, _verdict(facts["verdicts"].get(name, set())), facts["counts"].get(name, 0))
            for name in facts["names"]
        ]
        self._spec = spec
        self._held = held
        self._rows = rows

    @property
    def verdict(self) -> _Verdict:
        """`violated` if a property is, else `unknown` if one is, else `satisfied`."""
        return _verdict({own.verdict for own in self.properties})

    @property
    def ok(self) -> bool:
        """Whether every property is satisfied."""
        return self.verdict == "satisfied"

    def unpersist(self) -> None:
        """Lets the executors forget the violations. What is asked of them later is computed again."""
        for frame in self._held:
            frame.unpersist()

    def _explain(self, own: CheckedProperty) -> str:
        by = self._rows.by
        if own.verdict != "violated" or by is None:
            return f"{own.name} is {own.verdict}"
        first = own.first(1)[0]
        key = first[by]
        frame = self._rows.frame.where(F.col(f"`{by}`") == F.lit(key)).orderBy(AT).drop(AT)
        report = self._spec.check(frame.toArrow(), by=by, **{**self._rows.options, "only": [own.name]})
        place = f"position {first['position']}" if first["position"] is not None else "the trace"
        return f"{by} = {key!r}, {place}; below, positions are those among its {report.events} rows:\n{report[own.name].explain(0)}"

    def __len__(self) -> int:
        return len(self.properties)

    def __getitem__(self, which: str | int) -> CheckedProperty:
        if isinstance(which, int):
            return self.properties[which]
        for own in self.properties:
            if own.name == which:
                return own
        raise KeyError(which)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.properties), f"{self.events} positions; {'; '.join(self.plan)}"])

    def _repr_html_(self) -> str:
        return "<div>" + "".join(f"<div>{escape(line)}</div>" for line in repr(self).splitlines()) + "</div>"


class _Rows:
    """The rows that were checked, with their numbers."""

    def __init__(self, frame: DataFrame, by: str | None, options: dict[str, Any]) -> None:
        self.frame, self.by, self.options = frame, by, options

    def lacks(self) -> str:
        """What is worth knowing where something was not found: other columns do not come to the workers."""
        return f"\nof the data frame, these columns were read: {', '.join(name for name in self.frame.columns if name != AT)}"


def _verdict(of: set[Any]) -> _Verdict:
    if "violated" in of:
        return "violated"
    return "unknown" if "unknown" in of else "satisfied"


def check(
    spec: Spec | str | os.PathLike[str],
    dataframe: DataFrame,
    *,
    by: str | None = None,
    position: str | None = None,
    order: str | Column | Iterable[str | Column] | None = None,
    slices: int | None = None,
    on: Iterable[str] | None = None,
    **options: Any,
) -> SparkReport:
    """Checks a data frame: with `by`, every property once per value of that column; else by slices, on the values of the variables
    that properties quantify over (`on` names some of them). Both are what `tracewise.check` finds in all rows together.

    Rows have no order in Spark: `position` is a column with the position of each, from 0; or `order` names what they are sorted by
    (the column of timestamps, if nothing is said), which costs a sort of all rows.

    `slices` is the number of parts, as many as Spark's shuffles have if nothing is said; each part has to fit into the memory of a
    worker. Further options are those of `tracewise.check`.
    """
    for name in _LEFT_OUT & options.keys():
        raise TypeError(f"unexpected keyword argument '{name}': all violations are found, and are a data frame")
    own = spec if isinstance(spec, Spec) else Spec(spec)
    settings = own.trace_settings
    by = by or settings.get("by")
    names = [options.pop("only")] if isinstance(options.get("only"), str) else options.pop("only", None)
    if names is not None:
        options["only"] = list(names)
    parts = int(slices or dataframe.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    time = options.get("time") or settings.get("time") or "time"
    kept = {time, options.get("event") or settings.get("event") or "event", *own.columns} | ({by} if by else set())
    if by is not None and by not in dataframe.columns:
        raise Error(f"the data frame has no column `{by}` (it has {', '.join(dataframe.columns)})")
    numbered = _numbered(dataframe, kept, position, order, time)
    if by is not None:
        return _by_keys(own, numbered, by, parts, time, position is not None, options)
    return _by_slices(own, numbered, parts, list(on or []), time, position is not None, options)


def _numbered(
    frame: DataFrame,
    kept: set[str],
    position: str | None,
    order: str | Column | Iterable[str | Column] | None,
    time: str,
) -> DataFrame:
    """The columns that are needed, and a number for each row that grows with its position."""
    columns = [F.col(f"`{name}`") for name in frame.columns if name in kept]
    if position is not None:
        return frame.select(*columns, F.col(position).cast("long").alias(AT))
    if order is None and time not in frame.columns:
        raise Error("rows have no order in Spark: name a column that has it, position=… or order=…")
    by = [time] if order is None else [order] if isinstance(order, (str, Column)) else list(order)
    return frame.orderBy(*by).select(*columns, F.monotonically_increasing_id().alias(AT))


def _type(of: T.DataType | None) -> T.DataType:
    """What a column of violations is, of values from such a column."""
    if isinstance(of, (T.ByteType, T.ShortType, T.IntegerType, T.LongType)):
        return T.LongType()
    if isinstance(of, (T.FloatType, T.DoubleType)):
        return T.DoubleType()
    return T.BooleanType() if isinstance(of, T.BooleanType) else T.StringType()


def _time_type(of: T.DataType | None) -> T.DataType:
    if isinstance(of, (T.TimestampType, T.TimestampNTZType)):
        return of
    if isinstance(of, (T.ByteType, T.ShortType, T.IntegerType, T.LongType)):
        return T.LongType()
    return T.DoubleType() if isinstance(of, (T.FloatType, T.DoubleType, T.DecimalType)) else T.TimestampType()


def _result(spec: Spec, frame: DataFrame, by: str | None, time: str) -> T.StructType:
    """What workers hand back: violations, and facts about their parts."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    fields = [
        T.StructField("kind", T.StringType()),
        T.StructField("number", T.LongType()),
        T.StructField("note", T.StringType()),
        T.StructField("property", T.StringType()),
        T.StructField("position", T.LongType()),
        T.StructField("time", _time_type(types.get(time))),
    ]
    for name, sources in spec.variables.items():
        of = {_type(types.get(source)).simpleString() for source in sources if source in types}
        own = next((_type(types[source]) for source in sources if source in types), T.StringType())
        fields.append(T.StructField(name, own if len(of) == 1 else T.StringType()))
    if by is not None and by not in spec.variables:
        fields.append(T.StructField(by, _type(types.get(by))))
    if spec.monitors:
        fields += [T.StructField(name, T.StringType()) for name in ("category", "severity", "text")]
    return T.StructType(fields)


def _arrow(schema: T.StructType) -> pa.Schema:
    return pa.schema([(field.name, to_arrow_type(field.dataType)) for field in schema.fields])


def _by_keys(
    spec: Spec, frame: DataFrame, by: str, parts: int, time: str, placed: bool, options: dict[str, Any]
) -> SparkReport:
    if spec.derives:
        raise Error(
            "columns that equations define are computed from all rows, also with `by`: compute them before, or check the rows in one place"
        )
    schema = _result(spec, frame, by, time)
    work = in_keys(spec.text, by, options, _arrow(schema), placed)
    sorted_parts = frame.repartition(parts, F.col(f"`{by}`")).sortWithinPartitions(AT)
    plan = [f"by {by} in {parts} parts"]
    return _report(spec, [sorted_parts.mapInArrow(work, schema)], plan, placed, _Rows(frame, by, options), None)


def _by_slices(
    spec: Spec, frame: DataFrame, parts: int, on: list[str], time: str, placed: bool, options: dict[str, Any]
) -> SparkReport:
    asked = options.get("only") or spec.properties
    sliced: list[str] = []
    whole: list[str] = []
    plan: list[str] = []
    reasons: list[str] = []
    for name in asked:
        try:
            own = Slices(spec, parts, on=on or None, **{**options, "only": [name]})
            sliced.append(name)
            plan.append(f"{name} on {', '.join(own.variables(name)) or 'nothing'} in {parts} slices")
        except Error as refusal:
            whole.append(name)
            plan.append(f"{name} in one part")
            reasons.append(f"`{name}` is checked in one part: {str(refusal).splitlines()[0].removeprefix('error[usage]: ')}")
    schema = _result(spec, frame, None, time)
    results = []
    if sliced:
        chosen = {**options, "only": sliced}
        state = Slices(spec, parts, on=on or None, **chosen).save()
        shares = of_slices(spec.text, state, chosen, placed)
        tagged = T.StructType([*frame.schema.fields, T.StructField(SLICE, T.IntegerType())])
        shared = frame.mapInArrow(shares, tagged)
        # A part of its own is about how many rows there are.
        by_id = getattr(shared, "repartitionById", None)
        divided = by_id(parts + 1, F.col(SLICE)) if by_id else shared.repartition(parts + 1, F.col(SLICE))
        work = in_slices(spec.text, state, chosen, _arrow(schema), parts, placed)
        results.append(divided.sortWithinPartitions(SLICE, AT).mapInArrow(work, schema))
    if whole:
        work = in_keys(spec.text, None, {**options, "only": whole}, _arrow(schema), placed)
        results.append(frame.repartition(1).sortWithinPartitions(AT).mapInArrow(work, schema))
    report = _report(spec, results, plan, placed, _Rows(frame, None, options), asked)
    report.warnings += reasons
    return report


def _report(
    spec: Spec, results: list[DataFrame], plan: list[str], placed: bool, rows: _Rows, names: list[str] | None
) -> SparkReport:
    facts: dict[str, Any] = {"plan": plan, "names": names or rows.options.get("only") or spec.properties}
    verdicts: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    warnings: list[str] = []
    all_violations: DataFrame | None = None
    for result in results:
        result.persist(StorageLevel.MEMORY_AND_DISK)
        found = (
            result.where(F.col("kind") != "violation")
            .groupBy("kind", "property", "note", "position")
            .agg(F.max("number").alias("most"), F.sum("number").alias("sum"), F.count(F.lit(1)).alias("times"))
        )
        try:
            found_rows = found.collect()
        except PythonException as error:
            raise _told(error) from None
        for row in found_rows:
            if row.kind == "error":
                raise Error(row.note + rows.lacks())
        told = {row.kind: row for row in found_rows}
        events = sum(row.most for row in found_rows if row.kind == "rows") if not placed else sum(
            row.sum for row in found_rows if row.kind == "rows"
        )
        if events == 0:
            raise Error("the data frame has no rows, so there is nothing to check")
        parts = told["part"].times if "part" in told else 0
        for row in found_rows:
            if row.kind == "verdict":
                verdicts.setdefault(row.property, set()).add(row.note)
                counts[row.property] = counts.get(row.property, 0) + row.sum
            if row.kind == "warning" and row.times == parts and row.note not in warnings:
                warnings.append(row.note)
        violations = result.where(F.col("kind") == "violation").drop("kind", "number", "note")
        if not placed:
            violations = _positions(violations, {row.position: row.most for row in found_rows if row.kind == "rows"})
        all_violations = violations if all_violations is None else all_violations.unionByName(violations)
        facts["events"] = events
    if all_violations is None:
        raise Error("there is no property to check")
    facts |= {"verdicts": verdicts, "counts": counts, "warnings": warnings}
    return SparkReport(spec, facts, all_violations, results, rows)


def _positions(violations: DataFrame, rows: dict[int, int]) -> DataFrame:
    """Positions, from numbers of partitions and of rows in them."""
    before, starts = 0, []
    for partition in sorted(rows):
        starts.append((partition, before))
        before += rows[partition]
    frame = violations.sparkSession.createDataFrame(starts, "__tracewise_partition long, __tracewise_start long")
    own = violations.withColumn("__tracewise_partition", F.shiftright("position", _BITS))
    joined = own.join(F.broadcast(frame), "__tracewise_partition", "left")
    number = F.col("position").bitwiseAND(F.lit((1 << _BITS) - 1)) + F.col("__tracewise_start")
    return joined.withColumn("position", number).select(*violations.columns)


def _told(error: PythonException) -> Exception:
    """What a worker found wrong, without its stack."""
    text = str(error)
    mark = "tracewise.Error: "
    if mark not in text:
        return error
    return Error(text[text.rindex(mark) + len(mark) :].strip())


def monitor(
    spec: Spec | str | os.PathLike[str],
    dataframe: DataFrame,
    *,
    by: str,
    time: str | None = None,
    **options: Any,
) -> DataFrame:
    """The violations of a streaming data frame, each key a trace of its own (`transformWithState`, the state of a monitor per key).

    With a watermark on the column of timestamps, rows wait for it, so that late ones take their place, and deadlines pass with it;
    without one, rows are taken in the order of their timestamps within each batch. A violation has the position that is its own among
    the rows of its key.
    """
    from ._spark_stream import keyed

    own = spec if isinstance(spec, Spec) else Spec(spec)
    if own.derives:
        raise Error("a monitor has no columns that equations define; compute them in the data frame")
    name = time or own.trace_settings.get("time") or ("time" if "time" in dataframe.columns else None)
    return keyed(own, dataframe, by, name, options, _result(own, dataframe, by, name or "time"))
