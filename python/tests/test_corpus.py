"""The conformance corpus, through Python."""

import json
import math

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


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path, tmp_path):
    found = dict(blocks(path))
    spec = tw.Spec(found.pop("tw"), name=path.name)
    (form,) = FORMATS & set(found)
    trace = tmp_path / "trace"
    trace.write_text(found.pop(form))
    asked = 0
    for kind, expected in found.items():
        for line in expected.splitlines():
            name, _, rest = line.partition(":")
            asked += 1
            if kind.startswith("verdicts"):
                semantics = kind.partition(" ")[2] or "finite"
                own = spec.check(trace, format=form, semantics=semantics)[name]
                verdict, *positions = rest.split()
                assert own.verdict == verdict, line
                listed = json.loads(" ".join(positions)) if positions and positions[0].startswith("[") else positions
                if verdict == "violated" and positions:
                    assert [v.position for v in own.violations] == [int(at) for at in listed], line
            elif kind == "eval":
                values = spec.eval(trace, format=form, only=name).values
                assert [int(value) for value in values] == [int(bit) for bit in rest.split()], line
            elif kind == "values":
                value(spec, trace, form, name, rest.strip())
            elif kind == "values everywhere":
                if "error" not in rest:
                    everywhere(spec.query(trace, format=form, only=name).at_all, rest)
            elif kind == "robustness":
                got = spec.robust(trace, format=form, only=name).at_all
                assert got.tolist() == pytest.approx([float(own) for own in rest.split()]), line
    assert asked


def value(spec, trace, form, name, expected):
    if expected == "error":
        with pytest.raises(tw.Error):
            spec.query(trace, format=form, only=name)
        return
    assert same(spec.query(trace, format=form, only=name)[name].value, expected), (name, expected)


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
