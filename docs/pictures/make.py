#!/usr/bin/env python3
"""Draws the timelines of the tutorial: python3 docs/pictures/make.py

Every picture is a few rows of given propositions and a few rows of formulas over them. The dots of a formula are computed
by its definition below, not drawn by hand; a filled dot means "holds here".
"""

from pathlib import Path

STEP, ROW, TOP, RADIUS = 46, 38, 44, 9
INK, FAINT, GIVEN, RESULT, BAD, BAND, OPEN = (
    "#1f2933", "#7b8794", "#52606d", "#1c64b0", "#c0392b", "#e3f0fc", "#fdf0dc")


# The operators, each from the truth values of its parts to its own.
def implies(p, q):
    return [not a or b for a, b in zip(p, q)]


def next_(p):
    return p[1:] + [False]


def eventually(p):
    return [any(p[i:]) for i in range(len(p))]


def always(p):
    return [all(p[i:]) for i in range(len(p))]


def until(p, q):
    return [any(q[k] and all(p[i:k]) for k in range(i, len(p))) for i in range(len(p))]


def previously(p):
    return [False] + p[:-1]


def once(p):
    return [any(p[: i + 1]) for i in range(len(p))]


def historically(p):
    return [all(p[: i + 1]) for i in range(len(p))]


def since(p, q):
    return [any(q[k] and all(p[k + 1 : i + 1]) for k in range(i + 1)) for i in range(len(p))]


def at(n, *positions):
    """True at these positions of n."""
    return [i in positions for i in range(n)]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def draw(name, rows, notes=(), bands=(), bad=()):
    """rows: (label, truth values, is it a formula); bands: (first, last, colour, caption); bad: (row, position)."""
    n = len(rows[0][1])
    left = 34 + max(len(label) for label, _, _ in [("position", 0, 0), *rows]) * 8.0
    top = TOP + (20 if bands else 0)
    bottom = top + ROW * len(rows) + (8 if bands else 0)
    width = max([left + STEP * n + 12] + [36 + 6.9 * len(note) for note in notes])
    height = bottom + 6 + 20 * len(notes)
    x = lambda i: left + STEP * (i + 0.5)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="13">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#ffffff"/>',
    ]
    for first, last, colour, caption in bands:
        out.append(f'<rect x="{x(first) - STEP / 2 + 3:.1f}" y="{top - 8}" width="{STEP * (last - first + 1) - 6}" '
                   f'height="{ROW * len(rows) + 4}" rx="6" fill="{colour}"/>')
        out.append(f'<text x="{(x(first) + x(last)) / 2:.1f}" y="{top - 14}" text-anchor="middle" font-size="11" '
                   f'fill="{FAINT}">{escape(caption)}</text>')
    out.append(f'<text x="20" y="24" fill="{FAINT}" font-size="12">position</text>')
    for i in range(n):
        out.append(f'<text x="{x(i):.1f}" y="24" text-anchor="middle" fill="{FAINT}" font-size="12">{i}</text>')
    for r, (label, truth, formula) in enumerate(rows):
        y = top + ROW * r + ROW / 2 - 6
        weight = ' font-weight="bold"' if formula else ""
        out.append(f'<text x="20" y="{y + 4.5:.1f}" fill="{INK}"{weight} '
                   f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">{escape(label)}</text>')
        out.append(f'<line x1="{x(0):.1f}" y1="{y}" x2="{x(n - 1):.1f}" y2="{y}" stroke="#cbd2d9" stroke-width="2"/>')
        for i, holds in enumerate(truth):
            colour = BAD if (r, i) in bad else RESULT if formula else GIVEN
            fill = colour if holds else "#ffffff"
            out.append(f'<circle cx="{x(i):.1f}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{colour}" stroke-width="2"/>')
            if (r, i) in bad:
                d = 3.6
                out.append(f'<path d="M{x(i) - d:.1f} {y - d:.1f}l{2 * d} {2 * d}m0 {-2 * d}l{-2 * d} {2 * d}" '
                           f'stroke="{colour}" stroke-width="2" fill="none"/>')
    for k, note in enumerate(notes):
        out.append(f'<text x="20" y="{bottom + 14 + 20 * k}" fill="{FAINT}" font-size="12">{escape(note)}</text>')
    out.append("</svg>")
    Path(__file__).with_name(f"{name}.svg").write_text("\n".join(out) + "\n", encoding="utf-8")


def main():
    n = 9
    p = at(n, 2, 3, 6, 7, 8)
    draw("future", [("p", p, False), ("X p", next_(p), True), ("F p", eventually(p), True), ("G p", always(p), True)],
         ["Look right: X at the next position, F somewhere from here on, G everywhere from here on."])

    p, q = at(n, 0, 1, 2, 5, 6, 7, 8), at(n, 3, 8)
    draw("until", [("p", p, False), ("q", q, False), ("p U q", until(p, q), True)],
         ["From here p holds without a gap, until q does."])

    p = at(n, 0, 1, 4)
    draw("past", [("p", p, False), ("Y p", previously(p), True), ("O p", once(p), True), ("H p", historically(p), True)],
         ["Look left: Y at the position before, O somewhere up to here, H everywhere up to here."])

    p, q = at(n, 0, 2, 3, 4, 7, 8), at(n, 1, 6)
    draw("since", [("p", p, False), ("q", q, False), ("p S q", since(p, q), True)],
         ["Some time ago q held, and p at every position after that."])

    request, response = at(n, 1, 4, 7), at(n, 2, 5)
    answered = implies(request, eventually(response))
    draw("response",
         [("request", request, False), ("response", response, False), ("F response", eventually(response), True),
          ("request -> F response", answered, True)],
         ["The property G (request -> F response) asks for a full last row. It fails once, at position 7."],
         bad={(3, 7)})

    n = 12
    q, r, p = at(n, 1, 8), at(n, 5), at(n, 0, 3, 6, 10)
    rows = [("q", q, False), ("r", r, False), ("p", p, False)]
    draw("between", rows,
         ["absence_between(p, q, r) looks at the blue stretch only: the p at 3 violates it.",
          "absence_after_until(p, q, r) looks at the open stretch too: so does the p at 10."],
         bands=[(1, 4, BAND, "from q up to r"), (8, 11, OPEN, "r has not come yet")], bad={(2, 3), (2, 10)})

    n = 11
    q, r = at(n, 2, 8), at(n, 5)
    draw("scopes",
         [("q", q, False), ("r", r, False), ("whole trace", at(n, *range(n)), True),
          ("before r", at(n, *range(0, 5)), True), ("after q", at(n, *range(2, n)), True),
          ("between q and r", at(n, *range(2, 5)), True), ("after q until r", at(n, 2, 3, 4, 8, 9, 10), True)],
         ["Filled: the part of the trace that the requirement speaks of."])


if __name__ == "__main__":
    main()
