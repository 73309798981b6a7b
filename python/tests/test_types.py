"""The stubs pass a type checker, say what the module has, and fit the programs that are written against them."""

import subprocess
import sys

import pytest

import tracewise as tw
from tracewise import _native

PROGRAM = '''
import tracewise as tw

spec = tw.Spec("property p : G (a -> F b);")
report: tw.Report = spec.check({"a": [True]}, by="user", time="ts")
for own in report.properties:
    print(own.name.upper(), own.verdict == "satisfied", [v.bindings["user"] for v in own.violations])
total: int = report["p"].violation_count + len(report.violations)
text: str = report[0].explain(0)
monitor = spec.monitor(by="user", state=None)
names: list[str] = [v.property for v in monitor.feed([{"a": True}])] + [v.property for v in monitor.push(a=True)]
state: bytes = monitor.save()
values: list[float] = tw.robust("G (x > 0)", {"x": [1.0]}).at_all.tolist()
tw.check("G a", "log.csv"); tw.check("G a", ["a.csv", "b.csv"]); tw.query("max[x]", (row for row in [{"x": 1}]))
model: tw.Model = tw.merge("log.csv", keep="time")
html: str = report[0].explain(0).html
states: int = len(tw.simulate("abp.spl", 100, seed=2))
text = tw.fmt(spec) + tw.generate(spec, "c") + str(tw.lint("spec.tw")["errors"])
tw.check(spec, "log.csv", slices=4, slice_on="x", clock_error="50ms", statistic="coverage"); tw.split(spec, "log.csv", "out", slices=3)
'''

WRONG = '''
import tracewise as tw
tw.check("G a", 5)
tw.check("G a", {"a": [1]}, tmie="t")
tw.check("G a", {"a": [1]}).verdict == "maybe"
tw.check("G a", {"a": [1]}).properties[0].nmae
'''


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy knows of others' types is found once."""
    pytest.importorskip("mypy")
    return tmp_path_factory.mktemp("mypy")


def mypy(cache, tmp_path, text):
    (tmp_path / "program.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--strict-equality", "--cache-dir", str(cache), "program.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_a_program_passes(cache, tmp_path):
    found = mypy(cache, tmp_path, PROGRAM)
    assert found.returncode == 0, found.stdout


def test_a_wrong_program_does_not(cache, tmp_path):
    found = mypy(cache, tmp_path, WRONG)
    for line in (3, 4, 5, 6):
        assert f"program.py:{line}: error" in found.stdout, found.stdout


def test_the_package_passes(cache, tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "-p", "tracewise"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_stubs_name_what_there_is():
    from importlib.resources import files

    import ast

    stub = ast.parse((files("tracewise") / "_native.pyi").read_text())
    classes = {own.name: own for own in stub.body if isinstance(own, ast.ClassDef)}
    functions = {own.name for own in stub.body if isinstance(own, ast.FunctionDef)}
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert public == {name for name in classes if not name.startswith("_")} | functions
    for name, own in classes.items():
        if name.startswith("_") or name == "Error":
            continue
        told = {part.name for part in own.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("__")}
        there = {part for part in dir(getattr(_native, name)) if not part.startswith("__")}
        assert told == there, name
    assert set(tw.__all__) == public | {"__version__", "Explanation"}
