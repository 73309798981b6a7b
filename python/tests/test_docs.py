"""The pages for Python users: their programs run, and print what the pages say. UPDATE_DOCS=1 writes what they print."""

import contextlib
import io
import os

import pytest

import tracewise as tw

from conftest import ROOT

PAGES = [ROOT / "docs" / "python.md", ROOT / "docs" / "python-from.md", ROOT / "python" / "README.md"]


def pieces(text):
    """Prose and blocks: (language or None, lines)."""
    found, inside = [(None, [])], False
    for line in text.split("\n"):
        if line.startswith("```"):
            if inside:
                found.append((None, [line]))
            else:
                found[-1][1].append(line)
                found.append((line[3:], []))
            inside = not inside
        else:
            found[-1][1].append(line)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, tmp_path, monkeypatch):
    if page.name == "python-from.md":
        # The other tools that it runs.
        pytest.importorskip("rtamt")
        pytest.importorskip("reelay")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.jsonl").write_text('{"time": 0, "event": "order", "user": "ann"}\n{"time": 3, "event": "pay", "user": "ann"}\n')
    names, printed, fresh, ran = {"__name__": "page"}, "", [], 0
    found = pieces(page.read_text())
    for language, lines in found:
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                try:
                    exec(compile("\n".join(lines), f"{page.name}", "exec"), names)
                except tw.Error as error:
                    print(error)
            printed, ran = out.getvalue().rstrip("\n"), ran + 1
            fresh.append((language, lines))
        elif language == "text":
            fresh.append((language, printed.split("\n")))
        else:
            fresh.append((language, lines))
    text = "\n".join("\n".join(lines) for _, lines in fresh)
    assert ran
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(text)
    assert text == page.read_text()
