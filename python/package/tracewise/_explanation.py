"""Why something holds or fails: a text that a notebook shows as a tree."""

from __future__ import annotations


class Explanation(str):
    """An explanation in words; `html` is the same as a tree whose parts fold."""

    html: str

    def __new__(cls, text: str, html: str) -> Explanation:
        own = super().__new__(cls, text)
        own.html = html
        return own

    def _repr_html_(self) -> str:
        return self.html
