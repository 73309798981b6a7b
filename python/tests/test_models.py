import polars as pl
import pytest

import tracewise as tw


def test_merge_check_draw(tmp_path):
    (tmp_path / "a.csv").write_text("state\nidle\nbusy\nidle\n")
    (tmp_path / "b.csv").write_text("state\nidle\nbroken\nbroken\n")
    model = tw.merge([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (model.states, model.initial) == (3, 1)
    good, bad = model.check(ctl=["EF state = broken", "AG EF state = idle"])
    assert good.holds and not bad and bad.to_dict()["holds"] is False and bad.trace
    (linear,) = model.check(ltl="F state = busy")
    assert not linear.holds
    assert model.draw().lstrip().startswith("<") and "digraph" in model.draw("dot")
    model.save(tmp_path / "model.json")
    again = tw.Model(tmp_path / "model.json")
    assert again.states == 3 and [own.holds for own in again.check(ctl="EF state = broken")] == [True]
    with pytest.raises(tw.Error):
        model.check(ctl="AG (")
    with pytest.raises(tw.Error, match="no form"):
        model.draw("jpeg")


def test_merge_of_frames():
    frames = [pl.DataFrame({"state": ["a", "b"]}), pl.DataFrame({"state": ["a", "c"]})]
    assert tw.merge(frames).states == 3
    whole = pl.DataFrame({"state": ["a", "a", "b", "c"], "who": [1, 2, 1, 2]})
    assert tw.merge(whole, by="who").states == 3
    assert tw.merge(frames, keep="time").states == 3


def test_other_reports(tmp_path):
    rows = [{"event": "f", "id": 1}, {"event": "g", "id": 2}, {"event": "f", "id": 2}]
    assert tw.slice("f(id: x), g(id: x)", rows)[0]["bindings"] == {"x": 1}
    seen = tw.inspect(rows)
    assert seen["positions"] == 3 and [own["name"] for own in seen["columns"]] == ["id"]
    lines = [{"text": f"user {name} logged in from host{at}"} for at, name in enumerate(["ann", "bob", "cid"] * 5)]
    assert tw.templates(lines)[0]["lines"] == 15
    assert tw.streams("stream n: int = n[-1|0] + 1;", {"x": [1, 2]}) == [{"position": 0, "n": 1}, {"position": 1, "n": 2}]
    assert tw.races([{"event": "acquire", "thread": 1, "lock": "a"}, {"event": "release", "thread": 1, "lock": "a"}]) == []


def test_verbs_about_specifications(tmp_path):
    (explained, whole) = tw.Spec("property p : G (a -> F[0,5s] b);").explain()
    assert explained["property"] == "p" and explained["metric"] and whole["reads"] == ["a", "b"]
    assert tw.automata("property p : G (a -> F b);", "dfa")["p"].startswith("digraph")
    with pytest.raises(tw.Error, match="alternating or dfa"):
        tw.automata("G a", "nfa")
    charts = tw.Spec("chart Answered necessary { pre { A -> B : request; } main { B -> A : reply; } }  property other : G x;")
    assert charts.charts().properties == ["Answered.necessary"] and list(charts.chart_formulas()) == ["Answered.necessary"]
    events = [{"event": "send", "msg": "request"}, {"event": "recv", "msg": "request"}]
    assert charts.charts().check(events).verdict == "violated"
    assert charts.charts(open_end=True).check(events).verdict == "unknown"
    with pytest.raises(tw.Error, match="no charts"):
        tw.Spec("G x").charts()
    with pytest.raises(tw.Error, match="reading="):
        charts.charts(reading="aloud")
    spec = tw.Spec("property p : G forall r, s. f(id: r, by: s) -> O g(id: r); monitor Once(k) { event f(k); ere : f; }")
    assert spec.monitors == ["Once"] and spec.variables == {"r": ["id", "id"], "s": ["by"], "k": ["k"]}
    assert {"f", "g", "id", "by"} <= set(spec.columns) and not spec.derives and spec.trace_settings == {}
    assert tw.Spec('trace { by: user; } property p : G x;').trace_settings == {"by": "user"}


def test_verbs_about_files(tmp_path):
    frame = pl.DataFrame({"time": [0, 1, 2], "event": ["a", "b", "a"], "x": [1, 2, 9]})
    assert tw.convert(frame, tmp_path / "log.jsonl") == 3
    assert tw.convert(tmp_path / "log.jsonl", tmp_path / "log.out", to="csv") == 3
    assert tw.check("G (x < 5)", tmp_path / "log.jsonl")[0].position == 2
    assert (tmp_path / "log.out").read_text().splitlines()[0] == "time,event,x"
    draft = tw.draft(frame)
    assert tw.check(tw.Spec(draft), frame).ok
    (tmp_path / "spec.tw").write_text("property p : G (x < 5);\n")
    classes = tw.classify("G (a -> X b)", frame)
    assert classes[0]["property"] == "G (a -> X b)" and classes[0]["traces"] == 1 and len(classes[0]["class"]) == 32
    with pytest.raises(tw.Error):
        tw.classify("G a", frame, rules="everything")
    (tmp_path / "door.smv").write_text("")
    with pytest.raises(tw.Error, match="cannot read"):
        tw.import_spec(tmp_path / "nothing.mfotl")


def test_slices_that_travel():
    import numpy as np

    spec = tw.Spec("property p : G forall r. publish(id: r) -> O approve(id: r);")
    rows = [{"event": ("publish", "approve")[at * 7 % 3 % 2], "id": at * 5 % 17} for at in range(200)]
    one = tw.check(spec, rows)
    plan = tw.Slices(spec, 4)
    assert len(plan) == 4 and plan.variables("p") == ["r"]
    again = tw.Slices(spec, state=plan.save())
    positions, slices = again.rows(rows)
    assert len(positions) == 200 and set(slices.tolist()) == {0, 1, 2, 3}
    found = []
    for number in range(4):
        own = positions[slices == number].astype(np.uint64)
        table, counts = again.check(number, [rows[at] for at in own.tolist()], own.tobytes())
        assert counts["p"] == len(table)
        found += table["position"]
    assert sorted(found) == [v.position for v in one[0].violations] and found
    with pytest.raises(tw.Error, match="not sliced"):
        tw.Slices("G (x < 3)", 4)
