// Charts in the page's colours, and sparklines. Charts are uPlot's; a table of the same figures is there for who does not see.

import uPlot from "uplot";
import { draw, el } from "./dom";
import { figure } from "./format";

/** Times of day as logs write them. */
const CLOCK: uPlot.Axis.Values = [
  [86_400, "{YYYY}-{MM}-{DD}", null, null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [0.001, "{ss}.{fff}", "\n{YYYY}-{MM}-{DD} {HH}:{mm}", null, "\n{MM}-{DD} {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
];

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export interface ChartOptions {
  label: string;
  /** How x is counted: seconds since 1970, or anything else. */
  dates: boolean;
  kind: "bars" | "line" | "steps";
  /** Of which colour. */
  paint: "--violated" | "--accent";
  height?: number;
  /** A line at zero, and what lies below it. */
  zero?: boolean;
}

/** A chart that follows the width of its place and the colours of the page. */
export class Chart {
  readonly node: HTMLElement;
  private readonly place = el("div", { class: "chart-place" });
  private plot: uPlot | null = null;
  private data: uPlot.AlignedData = [[], []];
  private last = 0;
  private timer = 0;

  constructor(private options: ChartOptions) {
    this.node = el("div", { class: "chart", role: "img", "aria-label": options.label }, this.place);
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.node);
    document.addEventListener("themechange", () => {
      if (!this.node.isConnected) return;
      this.plot?.destroy();
      this.plot = null;
      this.show();
    });
  }

  private size() {
    return { width: Math.max(120, this.node.clientWidth), height: this.options.height ?? 140 };
  }

  /** Shows figures; not more often than can be followed. */
  set(x: number[], y: (number | null)[], dates = this.options.dates): void {
    if (dates !== this.options.dates) {
      this.options = { ...this.options, dates };
      this.plot?.destroy();
      this.plot = null;
    }
    this.data = [x, y];
    const wait = Math.max(0, 250 - (performance.now() - this.last));
    this.timer ||= setTimeout(() => {
      this.timer = 0;
      this.last = performance.now();
      this.show();
    }, wait) as unknown as number;
  }

  private show(): void {
    if (!this.node.isConnected) return;
    const y = this.data[1] as (number | null)[];
    const known = y.filter((value): value is number => value !== null);
    const said = known.length === 0 ? "no figures yet" : `${known.length} figures, the last ${figure(known[known.length - 1]!)}, from ${figure(known.reduce((a, b) => Math.min(a, b)))} to ${figure(known.reduce((a, b) => Math.max(a, b)))}`;
    this.node.setAttribute("aria-label", `${this.options.label}: ${said}`);
    if (this.plot) this.plot.setData(this.data);
    else this.plot = new uPlot(this.uplot(), this.data, this.place);
  }

  private uplot(): uPlot.Options {
    const { kind, paint, zero } = this.options;
    const stroke = colour(paint);
    const axis = (side: 0 | 1): uPlot.Axis => ({
      stroke: colour("--quiet"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1, size: 4 },
      font: "11px system-ui, sans-serif",
      size: side === 1 ? 46 : this.options.dates ? 38 : 26,
      ...(side === 1 ? { values: (_: uPlot, splits: number[]) => splits.map((split) => short(split)) } : {}),
      ...(side === 0 ? { values: this.options.dates ? CLOCK : (_: uPlot, splits: number[]) => splits.map((split) => short(split)), space: 56 } : {}),
    });
    const bars = uPlot.paths.bars?.({ size: [0.9, 24], align: 0 });
    const steps = uPlot.paths.stepped?.({ align: 1 });
    const paths = kind === "bars" ? bars : kind === "steps" ? steps : undefined;
    return {
      ...this.size(),
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: {
        x: { time: this.options.dates, ...(kind === "bars" ? { range: (plot, low, high) => margins(plot.data[0], low, high) } : {}) },
        y: { range: (_, low, high) => range(low, high, kind === "bars" || zero === true) },
      },
      axes: [axis(0), axis(1)],
      series: [{}, { stroke, fill: kind === "bars" ? stroke : `${stroke}22`, width: kind === "bars" ? 0 : 1.5, points: { show: false }, ...(paths ? { paths } : {}) }],
      plugins: [readout(this.options.dates)],
    };
  }
}

/** Room for half a bar at both ends. */
function margins(x: ArrayLike<number>, low: number, high: number): [number, number] {
  const half = x.length > 1 ? (high - low) / (x.length - 1) / 2 : 0.5;
  return [low - half, high + half];
}

function range(low: number, high: number, zero: boolean): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) return [low - (zero && low >= 0 ? 0 : 1), high + 1];
  const room = (high - low) * 0.08;
  return [zero && low === 0 ? 0 : low - room, high + room];
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(4))}G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
  return figure(value);
}

/** What is under the pointer, in words. */
function readout(dates: boolean): uPlot.Plugin {
  const text = el("div", { class: "readout", "aria-hidden": "true" });
  return {
    hooks: {
      init: (plot) => plot.over.append(text),
      setCursor: (plot) => {
        const index = plot.cursor.idx;
        const [x, y] = [index == null ? undefined : plot.data[0][index], index == null ? undefined : plot.data[1]![index]];
        text.hidden = x === undefined || y === undefined || y === null;
        if (text.hidden) return;
        text.textContent = `${dates ? new Date(x! * 1000).toLocaleTimeString("en-GB") : figure(x!)}: ${figure(y!)}`;
      },
    },
  };
}

/** Figures as a small line, filled to its foot. */
export class Sparkline {
  readonly node: SVGElement;
  private readonly area = draw("path", { class: "spark-area" });
  private readonly line = draw("path", { class: "spark-line", "vector-effect": "non-scaling-stroke" });

  private shown = "";

  constructor(private readonly label: string) {
    this.node = draw("svg", { class: "spark", viewBox: "0 0 120 24", preserveAspectRatio: "none", role: "img", "aria-label": label });
    this.node.append(this.area, this.line);
  }

  /** Shows the figures of the last seconds, several in one where there are many. */
  set(values: readonly number[], seconds: number): void {
    const points = 60;
    const each = Math.max(1, Math.round(seconds / points));
    const last = values.slice(-points * each);
    const means: number[] = [];
    // From the end, so that what is one second old does not change what is ten.
    for (let end = last.length; end > 0; end -= each) {
      const stretch = last.slice(Math.max(0, end - each), end);
      means.unshift(stretch.reduce((a, b) => a + b, 0) / stretch.length);
    }
    const most = Math.max(1e-9, ...means);
    const x = (index: number) => 120 - ((means.length - 1 - index) * 120) / (points - 1);
    const y = (value: number) => 22.5 - (value / most) * 20;
    const line = means.map((value, index) => `${index === 0 ? "M" : "L"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    if (line === this.shown) return;
    this.shown = line;
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", means.length > 0 ? `${line}L120 24L${x(0).toFixed(1)} 24Z` : "");
    const label = `${this.label}, the most in a second ${figure(Math.max(0, ...last))}`;
    if (this.node.getAttribute("aria-label") !== label) this.node.setAttribute("aria-label", label);
  }
}
