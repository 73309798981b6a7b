"""The example with which the package introduces itself, word for word."""

import polars as pl
import pytest

import tracewise as tw

LOG = pl.DataFrame(
    {
        "ts": [0, 1, 2, 50, 60],
        "user": ["ann", "bob", "ann", "ann", "bob"],
        "event": ["order", "order", "pay", "order", "pay"],
        "ms": [10, 20, 6000, 40, 7000],
    }
)
TEXT = 'property paid "every order is paid" : G (order -> F[0,30s] pay);  property fast : G (ms < 5000);'


@pytest.fixture
def spec():
    return tw.Spec(TEXT)


def test_check_of_a_file(tmp_path, spec):
    LOG.write_parquet(tmp_path / "log.parquet")
    report = spec.check(pl.read_parquet(tmp_path / "log.parquet"), by="user", time="ts")
    told = [(p.name, p.verdict, [(v.position, v.time, v.bindings) for v in p.violations]) for p in report.properties]
    assert told == [
        ("paid", "violated", [(1, 1, {"user": "bob"}), (3, 50, {"user": "ann"})]),
        ("fast", "violated", [(2, 2, {"user": "ann"}), (4, 60, {"user": "bob"})]),
    ]
    assert report["paid"].title == "every order is paid"
    same = tw.check(TEXT, LOG, by="user", time="ts")
    assert same.to_json() == report.to_json()
    file = tw.check(spec, str(tmp_path / "log.parquet"), by="user", time="ts")
    assert [p.violation_count for p in file.properties] == [2, 2]
    assert tw.check(spec, [tmp_path / "log.parquet"], by="user", time="ts").verdict == "violated"


def test_tables_and_explanations(spec):
    report = spec.check(LOG, by="user", time="ts")
    frame = report.violations.to_polars()
    assert frame.columns == ["property", "trace", "position", "time", "user"]
    assert frame["user"].to_list() == ["bob", "ann", "ann", "bob"]
    assert report.violations.to_pandas()["position"].tolist() == [1, 3, 2, 4]
    assert pl.DataFrame(report.violations).equals(frame)
    assert "does not hold within 30s after position 1" in report["paid"].explain(0)
    assert "(ms = 7000)" in report["fast"].explain(1)
    assert report["fast"].explain(-1) == report["fast"].explain(1)
    with pytest.raises(IndexError):
        report["fast"].explain(2)
    html = report._repr_html_()
    assert "<details" in html and "every order is paid" in html and "<script" not in html
    assert "✗ paid" in repr(report) and "✗" in repr(report["paid"])


def test_monitor(spec):
    alerts = []
    monitor = spec.monitor(by="user")
    for batch in LOG.iter_slices(2):
        for v in monitor.feed(batch):
            alerts.append((v.property, v.bindings, v.time))
    assert alerts == [("fast", {"user": "ann"}, 2), ("paid", {"user": "bob"}, 1), ("fast", {"user": "bob"}, 60)]
    state = monitor.save()
    again = spec.monitor(by="user", state=state)
    assert again.positions == 5
    (late,) = again.push(ts=200, event="other", user="bob", ms=1)
    assert (late.property, late.bindings, late.position, late.settled_time) == ("paid", {"user": "ann"}, 3, 80)


def test_values():
    assert tw.query("max[ms] by user", LOG).to_polars().to_dicts() == [
        {"query": "max[ms] by user", "user": "ann", "value": 6000},
        {"query": "max[ms] by user", "user": "bob", "value": 7000},
    ]
    signal = pl.DataFrame({"time": [0.0, 1.0, 2.0, 3.0], "x": [1.5, 2.0, -0.5, 3.0]})
    robust = tw.robust("G[0,10] (x > 0)", signal)
    assert robust.at_all.tolist() == [-0.5, -0.5, -0.5, 3.0] and robust.value == -0.5
    assert "x = -0.5" in robust[0].explain() and "<svg" in robust._repr_html_()
    assert tw.eval("x > 0", signal).values.tolist() == [True, True, False, True]
    assert tw.query("max[x]", signal).at_all.tolist() == [3.0] * 4


def test_verdicts_and_errors(spec):
    assert tw.check("F (x > 5)", {"x": [1, 2]}).verdict == "violated"
    assert tw.check("F (x > 5)", {"x": [1, 2]}, semantics="ltl3").verdict == "unknown"
    assert tw.check("F (x > 1)", {"x": [1, 2]}).ok
    with pytest.raises(tw.Error) as found:
        tw.Spec("G (a ->")
    assert found.value.kind == "specification"
    assert "<formula>:1:" in str(found.value) and "^" in str(found.value)
    assert found.value.findings[0]["code"]


def test_orders(tracewise):
    with tracewise(tw.Spec('property paid : G (order -> F[0,30s] pay);')) as trace:
        trace.event("order", user="u1")
        trace.event("pay", user="u1")
