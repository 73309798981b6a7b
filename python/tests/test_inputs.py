"""Whatever holds the data, the report is the same."""

import datetime as dt
import decimal
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


def kinds() -> dict[str, tuple[pa.Table, str, dict[str, str]]]:
    """Columns of every type, a formula about them, options."""
    order = ["order", "pay", "order"]
    paid = "G (order -> F[0,30s] pay)"

    def stamps(kind: pa.DataType, step: int) -> pa.Table:
        return pa.table({"time": pa.array([0, 5 * step, 90 * step], kind), "event": order})

    def one(values: object, kind: pa.DataType | None = None) -> pa.Table:
        return pa.table({"x": pa.array(values, kind)})

    return {
        "categories": (pa.table({"x": pa.array(["a", "b", None, "a"]).dictionary_encode()}), 'G (x != "b")', {}),
        "keys that are categories": (
            pa.table({"u": pa.array(["a", "b", "b", "a"]).dictionary_encode(), "x": [1, 9, 2, 9]}),
            "G (x < 5)",
            {"by": "u"},
        ),
        "categories of numbers": (pa.table({"x": pa.array([1, 2, 2, 9]).dictionary_encode()}), "G (x < 5)", {}),
        "events that are categories": (pa.table({"event": pa.array(["a", "b"]).dictionary_encode()}), "G a", {}),
        "timestamps without a zone": (stamps(pa.timestamp("us"), 10**6), paid, {}),
        "timestamps of Paris": (stamps(pa.timestamp("ns", "Europe/Paris"), 10**9), paid, {}),
        "timestamps of UTC": (stamps(pa.timestamp("ms", "UTC"), 10**3), paid, {}),
        "seconds": (stamps(pa.timestamp("s"), 1), paid, {}),
        "days": (pa.table({"time": pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 2)]), "event": order[:2]}), paid, {}),
        "a column of days": (one([dt.date(2024, 1, 1), dt.date(2024, 1, 2)]), 'G (x == "2024-01-01")', {}),
        "decimals": (one([decimal.Decimal("1.50"), decimal.Decimal("7.25"), None]), "G (x < 5.5)", {}),
        "unsigned": (one([1, 7], pa.uint64()), "G (x < 5)", {}),
        "beyond 64 bits with a sign": (one([1, 2**63 + 5], pa.uint64()), "G (x < 5)", {}),
        "beyond what a float holds": (one([1, 2**62 + 1]), "G (x != 4611686018427387905)", {}),
        "bytes": (one([1, 7], pa.int8()), "G (x < 5)", {}),
        "short floats": (one([1.5, 7.5], pa.float32()), "G (x < 5)", {}),
        "infinity": (one([1.5, float("inf")]), "G (x < 5)", {}),
        "missing reals": (one([1.5, None, 9.0]), "G (x < 5)", {}),
        "missing numbers": (one([1, None, 9]), "G (x < 5)", {}),
        "missing truth": (one([True, None, False]), "G x", {}),
        "missing texts": (one(["a", None, "b"]), 'G (x == "a")', {}),
        "nothing": (one([None, None]), "G (x < 5)", {}),
        "nothing in a structure": (one([{"a": None, "b": 1}, {"a": None, "b": 7}]), "G (x.b < 5)", {}),
        "truth": (one([True, False]), "G x", {}),
        "structures": (one([{"a": {"b": 1}}, {"a": {"b": 7}}]), "G (x.a.b < 5)", {}),
        "lists beside it": (pa.table({"x": [1, 9], "l": pa.array([[1, 2], None])}), "G (x < 5)", {}),
        "large texts": (one(["a", "b"], pa.large_string()), 'G (x == "a")', {}),
        "views of texts": (one(["a", "b"], pa.string_view()), 'G (x == "a")', {}),
        "chunks": (pa.concat_tables([one([1, 2]), one([9])]), "G (x < 5)", {}),
        "no rows": (one([], pa.int64()), "G (x < 5)", {}),
        "keys that are numbers": (pa.table({"k": [1, 2, 1], "x": [1, 9, 9]}), "G (x < 5)", {"by": "k"}),
        "keys that are missing": (pa.table({"k": ["a", None, "a"], "x": [1, 9, 9]}), "G (x < 5)", {"by": "k"}),
        "names of other alphabets": (pa.table({"größe": [1, 9]}), "G (`größe` < 5)", {}),
        "bindings": (pa.table({"event": ["pub", "app", "pub"], "r": [1, 2, 2]}), "G forall v. pub(r: v) -> O app(r: v)", {}),
    }


@pytest.mark.parametrize("kind", kinds())
def test_types_of_columns(kind):
    table, formula, options = kinds()[kind]

    def answer(data):
        try:
            (own,) = tw.check(formula, data, **options).properties
        except tw.Error as error:
            return str(error).split("\n")[0]
        return own.verdict, [(v.position, v.time, v.bindings) for v in own.violations]

    expected = answer(table)
    assert isinstance(expected, str) or expected[0] == "violated"
    frames = {
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "pandas of arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "duckdb": duckdb.from_arrow(table),
    }
    for name, frame in frames.items():
        assert answer(frame) == expected, name


def test_what_missing_is():
    # A NaN is no number, but pandas means by it that there is none.
    with pytest.raises(tw.Error, match="NaN"):
        tw.check("G (x < 5)", pa.table({"x": [1.0, float("nan")]}))
    assert tw.check("G (x < 5)", pd.DataFrame({"x": [1.0, float("nan")]}))[0].position == 1
    with pytest.raises(tw.Error, match="no positions"):
        tw.check("G (x < 5)", pa.table({}))
    with pytest.raises(tw.Error, match="no positions"):
        tw.check("G (x < 5)", pd.DataFrame())


def test_keys_are_what_they_were():
    rows = [{"k": 1, "x": 1}, {"k": 2, "x": 9}, {"k": 1, "x": 9}]
    for form in (rows, pl.DataFrame(rows), pd.DataFrame(rows), {"k": [1, 2, 1], "x": [1, 9, 9]}):
        report = tw.check("G (x < 5)", form, by="k")
        assert report.violations["k"] == [2, 1]
        assert [v.bindings for v in report[0].violations] == [{"k": 2}, {"k": 1}]


def test_a_table_of_many_violations():
    length = 50_000
    columns = {
        "time": list(range(length)),
        "user": [f"u{at % 977}" for at in range(length)],
        "x": [at % 3 for at in range(length)],
    }
    for by in (None, "user"):
        report = tw.check("property a : G (x < 1); property b : G (x != 2); property c : F (x > 2);", columns, by=by)
        table = report.violations.to_polars()
        objects = [v for p in report.properties for v in p.violations]
        assert len(table) == len(objects) == sum(p.violation_count for p in report.properties) > length // 2
        assert table["property"].to_list() == [v.property for v in objects]
        assert table["position"].to_list() == [v.position for v in objects]
        assert table["time"].to_list() == [v.time for v in objects]
        if by:
            assert table["user"].to_list() == [v.bindings["user"] for v in objects]
            own = table.filter(pl.col("property") == "a")
            assert own["position"].to_list() == [at for at in range(length) if at % 3]
            assert own["user"].to_list() == [columns["user"][at] for at in own["position"]]
        short = tw.check("G (x < 1)", columns, by=by, violations=7)
        assert len(short.violations) == len(short[0].violations) == 7
        assert [v.position for v in short[0].violations] == [at for at in range(20) if at % 3][:7]
