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
