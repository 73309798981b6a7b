"""In a notebook, what is found shows itself: a kernel runs the cells, and what it would display is looked at."""

import html.parser

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SETUP = """
import polars as pl
import tracewise as tw
log = pl.DataFrame({
    "ts": [0, 1, 2, 50, 60], "user": ["ann", "bob", "ann", "ann", "<b>"],
    "event": ["order", "order", "pay", "order", "pay"], "ms": [10, 20, 6000, 40, 7000],
})
spec = tw.Spec('property paid "every order is paid" : G (order -> F[0,30s] pay);  property fast : G (ms < 5000);')
chart = tw.Spec('chart Answered necessary { pre { A -> B : request; } main { B -> A : reply; } }')
report = spec.check(log, by="user", time="ts")
"""

# A cell, and what has to stand in the HTML that it displays.
CELLS = {
    "report": ["<details", "every order is paid", "✗", "2 violations", "&lt;b&gt;"],
    'report["paid"]': ["<details", "✗", "F[0,30s] pay"],
    'report["fast"].explain(1)': ["(ms = 7000)", "&lt;b&gt;"],
    'report["paid"].explain(1)': ["<details", "F[0,30s] pay"],
    "report.violations": ["<table", "<th>user</th>", "<td>ann</td>"],
    'tw.query("max[ms] by user", log)': ["<table", "<td>6000</td>"],
    'tw.robust("G[0,10] (x > 0)", {"time": [0, 1, 2], "x": [1.5, 2.0, -0.5]})': ["<svg", "robustness"],
    'tw.merge(pl.DataFrame({"state": ["idle", "busy"]}))': ["<svg", "busy"],
    "chart": ["<svg", "Answered", "request"],
    "spec": ["<pre", "every order is paid"],
}


class Tags(html.parser.HTMLParser):
    """Whether tags are closed in the order in which they were opened."""

    EMPTY = {"br", "meta", "link", "img", "hr", "input"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


@pytest.fixture(scope="module")
def displayed(tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (SETUP, *CELLS)])
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}})
    client.execute()
    return {cell.source: cell.outputs for cell in notebook.cells[1:]}


@pytest.mark.parametrize("cell", CELLS)
def test_what_a_cell_displays(displayed, cell):
    (own,) = displayed[cell]
    assert own.output_type == "execute_result"
    # Both: a terminal shows the text.
    assert own.data["text/plain"]
    shown = own.data["text/html"]
    for part in CELLS[cell]:
        assert part in shown, part
    tags = Tags()
    tags.feed(shown)
    tags.close()
    assert tags.open == [] and "script" not in tags.seen
