"""The conformance corpus, through Python."""

import json
import math

import polars as pl
import pytest

import tracewise as tw

from conftest import ROOT

FORMATS = {"csv", "jsonl", "json", "props", "events", "monpoly", "lines", "logfmt"}
CASES = sorted((ROOT / "corpus").glob("*/*.twt"))


def blocks(path):
    lines = iter(path.read_text().split("\n"))
    for line in lines:
        if line.startswith("```"):
            body = []
            for inner in lines:
                if inner == "```":
                    break
                body.append(inner)
            yield line[3:], "".join(own + "\n" for own in body)


def test_there_are_cases():
    assert len(CASES) > 20


def in_memory(trace, form, folder, spec):
    """The trace as columns or rows."""
    if form == "props":
        lines = [set(line.split()) for line in trace.read_text().splitlines()]
        return pl.DataFrame({name: [name in line for line in lines] for name in sorted(set(spec.columns).union(*lines))})
    tw.convert(trace, folder / "rows.jsonl", format=form)
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("held", ["file", "memory"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path, held, tmp_path):
    found = dict(blocks(path))
    spec = tw.Spec(found.pop("tw"), name=path.name)
    (form,) = FORMATS & set(found)
    trace = tmp_path / "trace"
    trace.write_text(found.pop(form))
    data, options = trace, {"format": form}
    if held == "memory":
        data, options = in_memory(trace, form, tmp_path, spec), {}
    asked = 0
    for kind, expected in found.items():
        for line in expected.splitlines():
            name, _, rest = line.partition(":")
            asked += 1
            if kind.startswith("verdicts"):
                semantics = kind.partition(" ")[2] or "finite"
                own = spec.check(data, semantics=semantics, **options)[name]
                verdict, *positions = rest.split()
                assert own.verdict == verdict, line
                listed = json.loads(" ".join(positions)) if positions and positions[0].startswith("[") else positions
                if verdict == "violated" and positions:
                    assert [v.position for v in own.violations] == [int(at) for at in listed], line
            elif kind == "eval":
                values = spec.eval(data, only=name, **options).values
                assert [int(value) for value in values] == [int(bit) for bit in rest.split()], line
            elif kind == "values":
                value(spec, data, options, name, rest.strip())
            elif kind == "values everywhere":
                if "error" in rest.split():
                    with pytest.raises(tw.Error):
                        spec.query(data, only=name, **options).at_all
                else:
                    everywhere(spec.query(data, only=name, **options).at_all, rest)
            elif kind == "robustness":
                got = spec.robust(data, only=name, **options).at_all
                assert got.tolist() == pytest.approx([float(own) for own in rest.split()]), line
            else:
                raise AssertionError(f"nobody looks at {kind}")
    assert asked


def value(spec, data, options, name, expected):
    if expected == "error":
        with pytest.raises(tw.Error):
            spec.query(data, only=name, **options)
        return
    assert same(spec.query(data, only=name, **options)[name].value, expected), (name, expected)


def everywhere(got, expected):
    words, depth = [""], 0
    for letter in expected.strip():
        depth += (letter == "[") - (letter == "]")
        if letter == " " and depth == 0:
            words.append("")
        else:
            words[-1] += letter
    assert all(same(own, word) for own, word in zip(got.tolist(), words, strict=True)), (got, words)


def same(got, expected):
    """Whether a value is what is written: JSON, with texts that need no quotes."""
    if got is None or (isinstance(got, float) and math.isnan(got)):
        return expected == "null"
    if isinstance(got, list):
        return expected == "[" + ", ".join("null" if own is None else str(own) for own in got) + "]"
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        return got == pytest.approx(float(expected))
    return expected == (str(got).lower() if isinstance(got, bool) else got)
