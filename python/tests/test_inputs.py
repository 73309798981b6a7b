"""Whatever holds the data, the report is the same."""

import datetime as dt
import json
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tracewise as tw

SPEC = tw.Spec(
    """
    property answered : G (order -> F[0,5s] pay);
    property small : G (x < 0.9);
    property known : G !(user == "u3" & order);
    """
)


def columns(seed: int, length: int = 200) -> dict[str, list]:
    draw = random.Random(seed)
    time = 0
    made: dict[str, list] = {"time": [], "event": [], "user": [], "x": [], "open": []}
    for _ in range(length):
        time += draw.randrange(3)
        made["time"].append(time)
        made["event"].append(draw.choice(["order", "pay", "other", None]))
        made["user"].append(f"u{draw.randrange(5)}")
        made["x"].append(round(draw.random(), 3) if draw.random() < 0.9 else None)
        made["open"].append(draw.random() < 0.5)
    return made


def told(report: tw.Report) -> list:
    """A report without the names of traces, and without the texts of lines, in which keys may come in another order."""
    objects = report.to_dicts()
    for found in objects:
        found.pop("trace")
        found.pop("explanation", None)
        for violation in found["violations"]:
            violation.get("line", {}).pop("file", None)
            violation.get("line", {}).pop("text", None)
    return objects


def forms(data: dict[str, list], folder) -> dict[str, object]:
    frame = pl.DataFrame(data)
    table = frame.to_arrow()
    rows = frame.to_dicts()
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame.write_parquet(folder / "log.parquet")
    return {
        "pyarrow": table,
        "chunks": pa.Table.from_batches(table.to_batches(max_chunksize=17)),
        "record batch": table.combine_chunks().to_batches()[0],
        "batches": table.to_batches(max_chunksize=31),
        "pandas": frame.to_pandas(),
        "pandas of arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "duckdb": duckdb.sql("select * from frame"),
        "lazy": frame.lazy(),
        "rows": rows,
        "generator": (row for row in rows),
        "lists": data,
        "series": {name: frame[name] for name in data},
        "arrays": {name: np.array(values, dtype=object) if None in values else np.array(values) for name, values in data.items()},
        "jsonl": folder / "log.jsonl",
        "parquet": str(folder / "log.parquet"),
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", [None, "user"])
def test_reports_are_the_same(seed, by, tmp_path):
    data = columns(seed)
    expected = told(SPEC.check(pl.DataFrame(data), by=by))
    assert any(found["violation_count"] for found in expected)
    for name, form in forms(data, tmp_path).items():
        assert told(SPEC.check(form, by=by)) == expected, name


@pytest.mark.parametrize("by", [None, "user"])
def test_monitors_tell_what_checks_find(by, tmp_path):
    for seed in range(4):
        data = columns(seed)
        report = SPEC.check(data, by=by)
        frame = pl.DataFrame(data)
        for cut in (1, 7, 200):
            monitor = SPEC.monitor(by=by)
            live = [v for batch in frame.iter_slices(cut) for v in monitor.feed(batch)]
            assert {v.property for v in live} <= {p.name for p in report.properties}
            for own in report.properties:
                found = {(v.position, v.time, tuple(v.bindings.items())) for v in own.violations}
                settled = {(v.position, v.time, tuple(v.bindings.items())) for v in live if v.property == own.name}
                # What was pending when the trace ended is settled by its end alone.
                assert settled <= found, (seed, cut, own.name)
                ends = [position for end in monitor.settle() if end.property == own.name for position in end.violations]
                assert len(found) <= sum(v.count for v in live if v.property == own.name) + len(ends)
        rows = frame.to_dicts()
        one, all_at_once = SPEC.monitor(by=by), SPEC.monitor(by=by)
        pushed = [repr(v) for row in rows for v in one.push(row)]
        assert pushed == [repr(v) for v in all_at_once.feed(rows)], seed
        assert one.save() == all_at_once.save()


def test_dates():
    start = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    times = [start + dt.timedelta(seconds=10 * at) for at in range(4)]
    data = {"time": times, "event": ["order", "other", "other", "pay"]}
    expected = [(0, "2024-01-01T00:00:00Z")]
    naive = [time.replace(tzinfo=None) for time in times]
    forms = [data, pl.DataFrame(data), pd.DataFrame(data), [dict(zip(data, row)) for row in zip(*data.values())]]
    forms += [{"time": np.array(naive, dtype="datetime64[us]"), "event": data["event"]}, {**data, "time": naive}]
    for form in forms:
        (found,) = tw.check("G (order -> F[0,20s] pay)", form).properties
        assert [(v.position, v.time) for v in found.violations] == expected
    table = tw.check("G (order -> F[0,20s] pay)", data).violations.to_arrow()
    assert table.schema.field("time").type == pa.timestamp("ns", tz="UTC")
    monitor = tw.Spec("G (order -> F[0,20s] pay)").monitor()
    found = [v for time, event in zip(times, data["event"]) for v in monitor.push(time=time, event=event)]
    assert [(v.position, v.time, v.settled_time) for v in found] == [(0, "2024-01-01T00:00:00Z", "2024-01-01T00:00:20Z")]


def test_times_that_are_floats_are_rounded_to_nanoseconds():
    times = (np.arange(20) * 0.1).tolist()
    assert times[3] == 0.30000000000000004
    data = {"time": times, "x": [1.0] * 19 + [5.0]}
    rows = [dict(zip(data, row)) for row in zip(*data.values())]
    for form in (data, pl.DataFrame(data), {name: np.array(own) for name, own in data.items()}, rows, pa.table(data)):
        assert [v.time for v in tw.check("G (x < 3)", form)[0].violations] == [1.9]
        assert tw.robust("G[0,0.1] (x < 3)", form).at_all.tolist() == [2.0] * 18 + [-2.0] * 2
    monitor = tw.Monitor("G (x < 3 -> F[0,0.1] x < 2)")
    assert monitor.feed(pl.DataFrame(data)) == [] and monitor.positions == 20
    monitor = tw.Monitor("G (x < 3 -> F[0,0.1] x < 2)")
    assert [v for row in rows for v in monitor.push(row)] == []
    huge = [1.7e9 + own for own in times]
    assert tw.check("G (x < 3)", {**data, "time": huge})[0].violation_count == 1


def test_nested_and_mixed_values():
    rows = [{"a": {"b": 1}, "items": [1, 2]}, {"a": {"b": 5}, "items": []}]
    assert tw.check("G (a.b < 3)", rows)["G (a.b < 3)"].position == 1
    assert tw.check("G (x < 3)", {"x": [1, 2.5, 4]})[0].position == 2


def test_nothing_is_copied_or_changed():
    array = np.arange(1000.0)
    table = pa.table({"x": array})
    tw.check("G (x < 5000)", table)
    assert table.column("x").to_numpy()[999] == 999.0


def test_several_traces(tmp_path):
    for name, value in (("a.csv", 1), ("b.csv", 9)):
        (tmp_path / name).write_text(f"x\n{value}\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    report = tw.check("G (x < 5)", paths)
    assert [p.verdict for p in report.properties] == ["satisfied", "violated"]
    assert report.violations["trace"] == [str(paths[1])]
    assert tw.check("G (x < 5)", paths, concat=True)[0].position == 1
    assert tw.query("max[x]", paths).to_polars()["value"].to_list() == [1, 9]


def test_many_violations_are_listed_in_full():
    report = tw.check("G (x < 0)", {"x": list(range(1000))})
    assert report[0].violation_count == 1000
    assert len(report[0].violations) == len(report.violations) == 1000
    assert len(report.to_dicts()[0]["violations"]) == 1000
    assert "x = 500" in report[0].explain(500)
    assert len(tw.check("G (x < 0)", {"x": list(range(1000))}, violations=5)[0].violations) == 5


@pytest.mark.parametrize(
    "data, kind, text",
    [
        (5, TypeError, "expected a path"),
        ([1, 2], TypeError, "item 0"),
        ("nowhere.csv", tw.Error, "there is no such file"),
        ({"x": [1], "y": [1, 2]}, tw.Error, "has 2 values"),
        ({"x": "text"}, tw.Error, "list of values"),
        ({"x": [1.0, float("nan")]}, tw.Error, "data:2:1: `x`: found `NaN`"),
        ([{"x": float("inf")}], tw.Error, "data:1:"),
        ([], tw.Error, "no positions"),
        ({"x": []}, tw.Error, "no positions"),
        ({"y": [1]}, tw.Error, "did you mean"),
        ([{"x": object()}], TypeError, "expected a number"),
        ([{"x": 2**70}], tw.Error, "x"),
        (pa.array([1, 2]), tw.Error, "expected a table"),
    ],
)
def test_bad_input(data, kind, text):
    with pytest.raises(kind) as found:
        tw.check("G (x < 3)", data)
    assert text in str(found.value), found.value


def test_bad_settings():
    with pytest.raises(TypeError, match="unexpected keyword argument 'tmie'"):
        tw.check("G x", {"x": [True]}, tmie="t")
    with pytest.raises(tw.Error, match='semantics="forever"'):
        tw.check("G x", {"x": [True]}, semantics="forever")
    with pytest.raises(tw.Error, match='time="COL"'):
        tw.check("F[0,5s] x", {"x": [True]})
    with pytest.raises(tw.Error, match="memory"):
        tw.check("G (x < 5)", {"x": list(range(10000))}, memory=10)
