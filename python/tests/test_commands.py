"""Every command of the command line has a verb here, and what the verb hands back is what the command prints: an object of its schema."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import tracewise as tw

from conftest import ROOT

jsonschema = pytest.importorskip("jsonschema")

EXAMPLES = ROOT / "examples"
SCHEMAS = {path.stem: path for path in (ROOT / "docs" / "schemas").glob("*.json")}

# Commands whose verbs hand back texts, numbers or objects that settle later; tests below look at those.
OTHERS = {"convert", "fmt", "import", "init", "record", "simulate", "watch"}

SHOP, ITEMS = EXAMPLES / "classes" / "shop.tw", EXAMPLES / "classes" / "sessions.jsonl"
WEB, REQUESTS = EXAMPLES / "web" / "web.tw", EXAMPLES / "web" / "requests-bad.jsonl"
DRIVE, DRIVEN = EXAMPLES / "robustness" / "drive.tw", EXAMPLES / "robustness" / "drive.csv"
RUNS = [EXAMPLES / "models" / f"t{number}.csv" for number in (1, 2, 3)]
FILES = "G forall i. close(id: i) -> O open(id: i)"
EVENTS = [{"event": ("open", "close")[at * 7 % 3 % 2], "id": at * 5 % 17} for at in range(60)]


def read(path):
    return tw.Spec(path)


VERBS = {
    "check": [
        lambda folder: tw.check(WEB, REQUESTS, by="id").to_dicts(),
        lambda folder: tw.check(WEB, REQUESTS, by="id", witness=True, statistic="coverage").to_dicts(),
        lambda folder: tw.check(FILES, EVENTS, slices=3, slice_on="i").to_dicts(),
        lambda folder: tw.check("G (a -> F[0,3s] b)", {"time": [0, 4], "a": [True, False], "b": [False, True]}, clock_error="1s").to_dicts(),
        lambda folder: tw.check("require few : count[close] < 3; property p : G (open | close);", EVENTS).to_dicts(),
    ],
    "query": [
        lambda folder: tw.query("max[ms] by id", REQUESTS).to_dicts(),
        lambda folder: tw.query("count[response] every 2s", REQUESTS).to_dicts(),
    ],
    "eval": [lambda folder: tw.eval("response & ms > 500", REQUESTS).to_dicts()],
    "classify": [lambda folder: tw.classify(WEB, REQUESTS, by="id", only="answered")],
    "robust": [
        lambda folder: tw.robust(DRIVE, DRIVEN).to_dicts(),
        lambda folder: tw.robust("G[0,10] (x > 0)", {"time": [0, 10], "x": [1.0, 3.0]}, interpolate="linear").to_dicts(),
    ],
    "stream": [
        lambda folder: tw.streams(EXAMPLES / "streams" / "smooth.tw", EXAMPLES / "streams" / "tank.csv"),
        lambda folder: [tw.stream_analyse(EXAMPLES / "streams" / "both.tw")],
        lambda folder: [tw.stream_ask("universal", EXAMPLES / "streams" / "both.tw")],
        lambda folder: [tw.stream_accepts(EXAMPLES / "streams" / "both.tw", {"wait": [True, False, True]})],
    ],
    "chart": [lambda folder: tw.Spec(EXAMPLES / "charts" / "session.elsc").charts().check(EXAMPLES / "charts" / "log.csv").to_dicts()],
    "explain": [lambda folder: read(WEB).explain(), lambda folder: tw.residuals("G (open -> F close)", EVENTS[:9])],
    "lint": [lambda folder: [tw.lint(WEB)], lambda folder: [tw.lint("property p : G (x > ;")]],
    "test": [lambda folder: tw.test(EXAMPLES / "web" / "web.twt")],
    "inspect": [lambda folder: [tw.inspect(REQUESTS)], lambda folder: [tw.inspect(EVENTS)]],
    "slice": [lambda folder: tw.slice("open(id: x), close(id: x)", EVENTS)],
    "split": [lambda folder: tw.split(FILES, EVENTS, folder / "slices", slices=3)],
    "templates": [
        lambda folder: tw.templates([{"text": f"user {at} came"} for at in range(9)]),
        lambda folder: tw.templates([{"text": f"user {at} came"} for at in range(9)], each=True),
    ],
    "merge": [lambda folder: [tw.merge(RUNS).to_dict()]],
    "model-check": [lambda folder: [own.to_dict() for own in tw.merge(RUNS).check(ctl="AF state = s2", ltl="F state = s2")]],
    "coverage": [lambda folder: [tw.merge(RUNS).coverage()]],
    "races": [lambda folder: tw.races(EXAMPLES / "races" / "transfer.events")],
}


def test_every_command_has_a_verb():
    assert VERBS.keys() | OTHERS == SCHEMAS.keys()
    assert not VERBS.keys() & OTHERS


@pytest.mark.parametrize("command, number", [(command, number) for command, runs in VERBS.items() for number in range(len(runs))])
def test_what_a_verb_says_fits_the_schema(command, number, tmp_path):
    schema = json.loads(SCHEMAS[command].read_text())
    if command == "explain" and number == 1:
        # `check --show-residual` prints it.
        assert "residual" in schema["$defs"]
    validator = jsonschema.Draft202012Validator(schema)
    told = VERBS[command][number](tmp_path)
    assert told
    for own in told:
        validator.validate(own)


PROGRAM = ROOT / "target" / ("release" if (ROOT / "target" / "release" / "tracewise").exists() else "debug") / "tracewise"

# What a command prints with `--output json`, and what the verb says of the same files.
BESIDE = {
    "check": (["check", WEB, REQUESTS, "--by", "id"], lambda: tw.check(WEB, str(REQUESTS), by="id").to_dicts()),
    "query": (["query", "-e", "max[ms] by id", REQUESTS], lambda: tw.query("max[ms] by id", str(REQUESTS)).to_dicts()),
    "eval": (["eval", "-e", "ms > 500", REQUESTS], lambda: tw.eval("ms > 500", str(REQUESTS)).to_dicts()),
    "robust": (["robust", DRIVE, DRIVEN], lambda: tw.robust(DRIVE, str(DRIVEN)).to_dicts()),
    "classify": (["classify", WEB, REQUESTS, "--by", "id"], lambda: tw.classify(WEB, str(REQUESTS), by="id")),
    "lint": (["lint", WEB], lambda: [tw.lint(str(WEB))]),
    "inspect": (["inspect", REQUESTS], lambda: [tw.inspect(str(REQUESTS))]),
    "races": (["races", EXAMPLES / "races" / "transfer.events"], lambda: tw.races(str(EXAMPLES / "races" / "transfer.events"))),
    "test": (["test", EXAMPLES / "web" / "web.twt"], lambda: tw.test(str(EXAMPLES / "web" / "web.twt"))),
    "slice": (["slice", "--patterns", "request(id: x), response(id: x)", REQUESTS], lambda: tw.slice("request(id: x), response(id: x)", str(REQUESTS))),
}


@pytest.mark.skipif(not PROGRAM.exists(), reason="the command is not built")
@pytest.mark.parametrize("command", BESIDE)
def test_what_a_verb_says_is_what_the_command_prints(command):
    arguments, verb = BESIDE[command]
    run = subprocess.run([PROGRAM, *arguments, "--output", "json"], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    printed = [json.loads(line) for line in run.stdout.splitlines()]
    # Times that a run took, and warnings, which are attributes here.
    drop = {"elapsed", "warnings", "elapsed_ms"}
    told = [{name: own for name, own in row.items() if name not in drop} for row in verb()]
    assert told == [{name: own for name, own in row.items() if name not in drop} for row in printed]


def test_texts(tmp_path):
    pretty = tw.fmt("property p:G(a->F b);")
    assert pretty == "property p : G (a -> F b);\n" and tw.fmt(pretty) == pretty and tw.fmt(tw.Spec(pretty)) == pretty
    with pytest.raises(tw.Error, match="1:"):
        tw.fmt("property p : G (")
    wrong = tw.lint("property p : G (a -> ; property q : F b;")
    assert wrong["errors"] >= 1 and wrong["findings"][0]["line"] == 1
    monitors = "monitor Once(k) { event f(k); ere : f; }"
    assert "pub fn f(" in tw.generate(monitors) and "tracewise" in tw.generate(monitors, "c")
    with pytest.raises(tw.Error, match="rust or c"):
        tw.generate(monitors, "cobol")
    for name in ("order.mmd", "order.puml"):
        charts = tw.import_spec(EXAMPLES / "import" / name)
        assert tw.Spec(charts).charts().properties
    assert tw.Spec(tw.import_spec(EXAMPLES / "import" / "gear.stl")).properties
    assert tw.Spec(tw.import_spec(EXAMPLES / "import" / "reports.mfotl", signature=EXAMPLES / "import" / "reports.sig")).properties
    assert tw.Spec(tw.draft(REQUESTS)).properties


def test_libraries_and_pictures():
    rules = tw.Spec.library("posix")
    assert len(rules.properties) > 10
    with pytest.raises(tw.Error, match="did you mean"):
        tw.Spec.library("posic")
    charts = tw.Spec(EXAMPLES / "charts" / "session.elsc")
    assert "<svg" in charts.draw() and charts.draw(form="dot").startswith("digraph")
    # What happened is coloured.
    assert charts.draw(EXAMPLES / "charts" / "log.csv", by="session") != charts.draw()
    assert "<svg" in charts._repr_html_()
    assert "<svg" in tw.automata("property p : G (a -> F b);", form="svg")["p"]
    assert json.loads(tw.automata("property p : G (a -> F b);", form="json")["p"])


def test_slices_and_clocks():
    whole = tw.check(FILES, EVENTS)
    sliced = tw.check(FILES, EVENTS, slices=4)
    assert sliced[0].violation_count == whole[0].violation_count > 0
    assert sliced.violations.to_dicts() == whole.violations.to_dicts()
    with pytest.raises(tw.Error, match="slices=N"):
        tw.check(FILES, EVENTS, slice_on="i")
    late = {"time": [0.0, 3.5], "a": [True, False], "b": [False, True]}
    assert tw.check("G (a -> F[0,3s] b)", late).verdict == "violated"
    assert tw.check("G (a -> F[0,3s] b)", late, clock_error="0.4s").to_dicts()[0]["guarantee"]
    with pytest.raises(tw.Error, match='clock_error="soon"'):
        tw.check("G (a -> F[0,3s] b)", late, clock_error="soon")


def test_slices_as_files(tmp_path):
    manifest = tmp_path / "slices" / "manifest.json"
    written = tw.split(FILES, EVENTS, tmp_path / "slices", slices=3)
    assert sum(own["events"] for own in written) >= len(EVENTS) and manifest.exists()
    assert tw.check(FILES, manifest)[0].violation_count == tw.check(FILES, EVENTS)[0].violation_count
    with pytest.raises(tw.Error, match="how many slices"):
        tw.split(FILES, EVENTS, tmp_path / "more")


def test_simulated_programs(tmp_path):
    program = EXAMPLES / "spl" / "abp.spl"
    table = tw.simulate(program, 2000, seed=3, loss=10)
    assert len(table) == 2000 and tw.simulate(program, 2000, seed=3, loss=10).to_dicts() == table.to_dicts()
    assert tw.simulate(program, 2000, seed=4, loss=10).to_dicts() != table.to_dicts()
    # A run is a trace as any other.
    assert tw.query(EXAMPLES / "spl" / "abp.tw", table)["throughput"].value > 10
    with pytest.raises(tw.Error, match="percentage"):
        tw.simulate(program, 10, loss=200)
    with pytest.raises(tw.Error, match="cannot read"):
        tw.simulate(tmp_path / "nothing.spl", 10)
    with pytest.raises(tw.Error):
        tw.simulate("process { nonsense", 10)


@pytest.mark.skipif(sys.platform != "linux", reason="programs are recorded on Linux")
def test_recorded_programs(tmp_path):
    told = tw.record([shutil.which("cat"), tmp_path / "nothing"], tmp_path / "calls.jsonl")
    assert told["code"] == 1 and told["events"] > 0 and told["whole"] and told["processes"] == 1
    report = tw.check(tw.Spec.library("posix"), tmp_path / "calls.jsonl")
    # Beginnings and ends of processes are positions, too.
    assert told["events"] <= report.events <= told["events"] + 5 and len(report) > 10
    with pytest.raises(tw.Error, match="no program"):
        tw.record(["no-such-program-anywhere"], tmp_path / "calls.jsonl")
    with pytest.raises(tw.Error, match="as a list"):
        tw.record("ls -l", tmp_path / "calls.jsonl")


def test_streams_without_a_trace(tmp_path):
    made = tw.stream_make("from_ltl", "G (a -> F b)")
    assert "stream" in made and tw.stream_analyse(made)["well_formed"]
    automaton = tw.stream_automaton(made)
    again = tw.stream_from_automaton(automaton)
    assert tw.stream_ask("includes", tw.stream_make("union", made, made), made)["answer"] is True
    assert tw.stream_ask("equal", made, made)["answer"] is True and tw.stream_ask("empty", made)["answer"] is False
    assert "stream" in again and tw.stream_automaton(made, "hoa").startswith("HOA") and "digraph" in tw.stream_automaton(made, "dot")
    assert "stream" in tw.stream_make("normalise", "stream q: bool = p & !q[-1|false]; observe q;") and "stream" in tw.stream_make("reverse", made)
    for call in (lambda: tw.stream_ask("equal", made), lambda: tw.stream_make("divide", made), lambda: tw.stream_automaton(made, "png")):
        with pytest.raises(tw.Error, match="expected"):
            call()


def test_texts_of_specifications_survive_pickling():
    import pickle

    for text in ("G (a -> F b)", "max[x] by user", "stream n: int = n[-1|0] + 1;", "monitor Once(k) { event f(k); ere : f; }"):
        spec = tw.Spec(text)
        assert spec.text == text and pickle.loads(pickle.dumps(spec)).text == text
