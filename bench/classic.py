#!/usr/bin/env python3
"""Two published experiments, redone: traversals of alternating automata, and monitoring by rewriting beside Maude.

    bench/classic.py [--longest 1000000] [--events 100000000] [--maude-events 1000000] [--pictures]

Builds `crates/testkit/tw-testkit/examples/classic.rs`, measures, prints Markdown tables with the load of the machine, and with
`--pictures` draws docs/pictures/{visits,slices,traversals,rewriting}.svg. Maude (Debian: `apt install maude`) runs the
module that `tracewise explain --maude` prints; without it its column stays empty.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
CLASSIC = ROOT / "target" / "release" / "examples" / "classic"
TRACEWISE = ROOT / "target" / "release" / "tracewise"
COLOURS = ["#1c64b0", "#c0392b", "#2e8b57", "#8e5bb5", "#c77d0a", "#52606d", "#d6336c", "#0b7285"]
BASE = ["a b", "a", "c a", "a b", "c b", "a b", "a", "c a", "a b", "c b"]
RULES = {"F1": "[] (a -> <> b)", "F2": "<> (! [] (a -> <> b))"}


def measure(*arguments):
    output = subprocess.run([CLASSIC, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def plot(path, title, x_label, y_label, series):
    """A log-log chart: `series` maps a name to a list of (x, y)."""
    width, height, left, right, top, bottom = 700, 400, 70, 230, 44, 50
    points = [point for line in series.values() for point in line if point[1] > 0]
    low_x, high_x = (f(math.log10(x) for x, _ in points) for f in (min, max))
    low_y, high_y = math.floor(min(math.log10(y) for _, y in points)), math.ceil(max(math.log10(y) for _, y in points))
    high_y = max(high_y, low_y + 1)

    def place(x, y):
        across = (math.log10(x) - low_x) / (high_x - low_x or 1) * (width - left - right)
        up = (math.log10(y) - low_y) / (high_y - low_y) * (height - top - bottom)
        return left + across, height - bottom - up

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="24" font-size="15" fill="#1f2933">{title}</text>']
    for power in range(math.ceil(low_x), math.floor(high_x) + 1):
        x, _ = place(10 ** power, 10 ** low_y)
        out.append(f'<path d="M{x:.1f} {top} V{height - bottom}" stroke="#e4e7eb"/>')
        out.append(f'<text x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#52606d">{power_of_ten(power)}</text>')
    for power in range(low_y, high_y + 1):
        _, y = place(10 ** low_x, 10 ** power)
        out.append(f'<path d="M{left} {y:.1f} H{width - right}" stroke="#e4e7eb"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#52606d">{power_of_ten(power)}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle" fill="#1f2933">{x_label}</text>')
    out.append(f'<text x="18" y="{(top + height - bottom) / 2}" text-anchor="middle" fill="#1f2933" transform="rotate(-90 18 {(top + height - bottom) / 2})">{y_label}</text>')
    ends = []
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [place(x, y) for x, y in line if y > 0]
        if not places:
            continue
        out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        ends.append([places[-1][1], name, colour])
    # Names beside the last points, moved apart where they would overlap.
    ends.sort()
    previous = -math.inf
    for end in ends:
        end[0] = previous = max(end[0], previous + 15)
    overshoot = max(0, previous - (height - bottom))
    for y, name, colour in ends:
        out.append(f'<text x="{width - right + 10}" y="{y - overshoot + 4:.1f}" fill="{colour}">{name}</text>')
    path.write_text("\n".join(out + ["</svg>"]) + "\n")


def power_of_ten(power):
    return f'10<tspan dy="-5" font-size="9">{power}</tspan>'


def traversals(longest, pictures):
    rows = measure("traversals", longest)
    names = {("depth-first", True): "depth-first, as published", ("depth-first", False): "depth-first",
             ("breadth-first", True): "breadth-first, as published", ("breadth-first", False): "breadth-first",
             ("reverse", False): "reverse", ("columnar", False): "columnar", ("automaton", False): "automaton",
             ("rewrite", False): "rewrite"}
    print("| formula | positions | traversal | node visits | most slices | slices in all | time |")
    print("|---|---:|---|---:|---:|---:|---:|")
    for row in rows:
        name = names.get((row["engine"], row["faithful"]))
        if name:
            counts = [f'{row[key]:,}' if row.get(key) else "" for key in ("visits", "max_slices", "slices")]
            print(f'| {row["formula"]} | {row["length"]:,} | {name} | {" | ".join(counts)} | {seconds(row["seconds"])} |')
    if not pictures:
        return
    for formula in ("phi1", "phi2", "phi3"):
        mine = [row for row in rows if row["formula"] == formula]

        def series(key, keep):
            lines = {}
            for (engine, faithful), name in names.items():
                line = [(row["length"], row[key]) for row in mine
                        if (row["engine"], row["faithful"]) == (engine, faithful) and row.get(key)]
                if line and keep(engine):
                    lines[name] = line
            return lines

        text = {"phi1": "φ1 = G F z", "phi2": "φ2 = G F a", "phi3": "φ3 = G (b → (¬a U (a U (¬a U a))))"}[formula]
        plot(PICTURES / f"traversals-{formula}.svg", f"{text}: time", "positions", "seconds", series("seconds", lambda _: True))
        plot(PICTURES / f"visits-{formula}.svg", f"{text}: nodes and slices visited", "positions", "visits",
             {**series("visits", lambda engine: engine != "breadth-first"),
              **{name + " (slices)": line for name, line in series("slices", lambda engine: engine == "breadth-first").items()}})


def maude(formula, events):
    """Seconds of CPU and rewrites that Maude takes for `B repeated |- formula`."""
    # Any formula over a, b and c has the module declare them; its goals are left out.
    formulas = [TRACEWISE, "explain", "-e", "a & b & c", "--maude"]
    module = subprocess.run(formulas, check=True, capture_output=True, text=True).stdout
    module = module[: module.rindex("endfm") + len("endfm")]
    name = re.findall(r"^\s*f?mod ([A-Z0-9-]+) is", module, re.M)[-1]
    base = ", ".join(BASE)
    text = module + f"""
fmod REPEATED is
  protecting {name} .
  protecting NAT .
  op lrep : Nat -> Trace .
  var N : Nat .
  var X : Formula .
  eq lrep(s(s(N))) |- X = ({base}, lrep(s(N))) |- X .
  eq lrep(s(0)) |- X = ({base}) |- X .
endfm
set show timing on .
reduce lrep({events // len(BASE)}) |- {RULES[formula]} .
quit
"""
    with tempfile.NamedTemporaryFile("w", suffix=".maude") as file:
        file.write(text)
        file.flush()
        output = subprocess.run(["maude", "-no-banner", file.name], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    found = re.findall(r"rewrites: (\d+) in (\d+)ms cpu", output)
    if not found:
        raise SystemExit("Maude said:\n" + output)
    rewrites, milliseconds = found[-1]
    return int(milliseconds) / 1000, int(rewrites)


def rewriting(longest, maude_longest, pictures):
    rows = measure("rewriting", longest)
    installed = shutil.which("maude") is not None
    lines = {}
    print("\n| formula | events | rewrite | automaton | columnar | Maude (CPU) | Maude's rewrites |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for formula in RULES:
        for length in sorted({row["length"] for row in rows}):
            times = {row["engine"]: row["seconds"] for row in rows if (row["formula"], row["length"]) == (formula, length)}
            cells = [seconds(times[engine]) for engine in ("rewrite", "automaton", "columnar")]
            for engine, taken in times.items():
                lines.setdefault(f"{engine}, {formula}", []).append((length, taken))
            if installed and length <= maude_longest:
                taken, rewrites = maude(formula, length)
                lines.setdefault(f"Maude, {formula}", []).append((length, max(taken, 1e-3)))
                cells += [seconds(taken), f"{rewrites:,}"]
            else:
                cells += ["", ""]
            print(f"| {formula} | {length:,} | {' | '.join(cells)} |")
    if pictures:
        plot(PICTURES / "rewriting.svg", "The base trace repeated: time", "events", "seconds", lines)


def seconds(value):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:.3g} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--maude-events", type=int, default=1_000_000)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet"]
    subprocess.run(build, check=True, cwd=ROOT)
    subprocess.run([*build, "-p", "tw-testkit", "--example", "classic"], check=True, cwd=ROOT)
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} processors\n")
    traversals(options.longest, options.pictures)
    rewriting(options.events, options.maude_events, options.pictures)
    print(f"\nload {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
