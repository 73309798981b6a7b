// Numbers, times and lengths as people read them.

import type { Stamp } from "./api";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A count with its thousands. */
export function count(number: number): string {
  return whole.format(number);
}

/** A count with its noun. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${number === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

/** A figure in few places. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "none";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e12) return count(value).replace("-", "−");
  return (size !== 0 && (size < 1e-3 || size >= 1e9) ? value.toExponential(2) : String(Number(value.toPrecision(5)))).replace("-", "−");
}

/** Something per second. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0/s";
  if (perSecond < 10) return `${perSecond.toFixed(1)}/s`;
  if (perSecond < 10_000) return `${count(Math.round(perSecond))}/s`;
  return perSecond < 1e6 ? `${(perSecond / 1e3).toFixed(1)} k/s` : `${(perSecond / 1e6).toFixed(1)} M/s`;
}

/** A number of bytes. */
export function bytes(number: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? number : number.toFixed(1)} ${units[unit]}`;
}

/** A length of time. */
export function length(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 10) return `${size.toFixed(1)} s`;
  if (size < 120) return `${Math.round(size)} s`;
  if (size < 7200) return `${Math.round(size / 60)} min`;
  return size < 172_800 ? `${Math.round(size / 3600)} h` : `${Math.round(size / 86_400)} d`;
}

/** Seconds since 1970, where a timestamp says so: a date, or a number that can only be one. */
export function seconds(stamp: Stamp): number | null {
  if (typeof stamp === "string") {
    const parsed = Date.parse(stamp);
    return Number.isNaN(parsed) ? null : parsed / 1000;
  }
  // From 2001 on; a smaller number is that of a clock of its own.
  return stamp !== null && stamp > 1e9 && stamp < 1e11 ? stamp : null;
}

/** A timestamp as the log has it, dates without what is the same for all. */
export function stamp(time: Stamp): string {
  if (time === null) return "";
  const since = seconds(time);
  if (since === null) return typeof time === "number" ? figure(time) : time;
  const date = new Date(since * 1000);
  const two = (number: number) => String(number).padStart(2, "0");
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date().toDateString()) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

/** A value of a log in one line. */
export function value(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return figure(value);
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}

/** Bindings in one line. */
export function bindings(bound: Record<string, unknown>): string {
  return Object.entries(bound)
    .map(([name, bound]) => `${name} = ${value(bound)}`)
    .join(", ");
}
