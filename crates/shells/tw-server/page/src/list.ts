// A long list of which only what is seen is there: rows are made once and filled again as the list moves. The newest is on
// top, and who has moved away from the top is not moved by what comes.

import { el, say } from "./dom";

export interface ListOptions<T> {
  label: string;
  /** What a row says: one node per column, made once … */
  make: () => HTMLElement;
  /** … and filled for each item. */
  show: (row: HTMLElement, item: T) => void;
  /** Numbers grow along the items. */
  number: (item: T) => number;
  /** Who walks through the list has come to an item … */
  reached?: (item: T) => void;
  /** … and opens it. */
  opened: (item: T) => void;
}

/** Rows beyond the edge. */
const MARGIN = 6;
/** Browsers end an element at some millions of pixels. */
const MOST = 400_000;
let lists = 0;

export class List<T> {
  readonly node: HTMLElement;
  private readonly room = el("div", { class: "list-room", role: "presentation" });
  private readonly name = `list-${(lists += 1)}`;
  private rows: HTMLElement[] = [];
  private items: readonly T[] = [];
  private height = 0;
  private active = -1;
  private seen = -1;

  constructor(private readonly options: ListOptions<T>) {
    this.node = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": options.label }, this.room);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.room.addEventListener("click", (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>(".row");
      if (row?.dataset["number"]) this.open(Number(row.dataset["number"]));
    });
    new ResizeObserver(() => {
      this.height = 0;
      this.draw();
    }).observe(this.node);
  }

  /** Shows items, which are in the order of their numbers. */
  set(items: readonly T[]): void {
    const newest = items.length > 0 ? this.options.number(items[items.length - 1]!) : -1;
    this.items = items;
    if (this.seen >= 0 && this.node.scrollTop > 0 && newest > this.seen) {
      const added = items.length - this.after(this.seen);
      this.node.scrollTop += added * this.rowHeight();
    }
    this.seen = newest;
    this.draw();
  }

  /** Whether somebody has come to an item. */
  get reached(): boolean {
    return this.active >= 0;
  }

  /** Marks an item as the one that is shown elsewhere, and brings it into view. */
  mark(number: number): void {
    if (this.active === number) return;
    this.active = number;
    const index = this.index(number);
    if (index >= 0) this.reveal(index);
    this.draw();
  }

  private rowHeight(): number {
    if (this.height === 0) {
      this.height = parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 30;
    }
    return this.height;
  }

  /** How many items have numbers up to one. */
  private after(number: number): number {
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.options.number(this.items[middle]!) <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The row of a number, from the top; −1 if there is none. */
  private index(number: number): number {
    const place = this.after(number) - 1;
    const item = this.items[place];
    return item !== undefined && this.options.number(item) === number ? this.items.length - 1 - place : -1;
  }

  private at(index: number): T | undefined {
    return this.items[this.items.length - 1 - index];
  }

  private choose(number: number): void {
    this.active = number;
    const index = this.index(number);
    if (index < 0) return;
    this.reveal(index);
    this.draw();
    this.options.reached?.(this.at(index)!);
  }

  private open(number: number): void {
    this.choose(number);
    const index = this.index(number);
    if (index >= 0) this.options.opened(this.at(index)!);
  }

  private reveal(index: number): void {
    const [top, height] = [index * this.rowHeight(), this.rowHeight()];
    const [from, room] = [this.node.scrollTop, this.node.clientHeight];
    if (top < from) this.node.scrollTop = top;
    else if (top + height > from + room) this.node.scrollTop = top + height - room;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && this.index(this.active) >= 0) {
      event.preventDefault();
      this.open(this.active);
      return;
    }
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.rowHeight()) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey || this.items.length === 0) return;
    event.preventDefault();
    const now = this.index(this.active);
    const next = now < 0 && Math.abs(step) === 1 ? 0 : Math.min(this.items.length - 1, Math.max(0, Math.max(now, 0) + step));
    this.choose(this.options.number(this.at(next)!));
  }

  private draw(): void {
    const height = this.rowHeight();
    const total = Math.min(this.items.length, MOST);
    this.room.style.height = `${total * height}px`;
    this.node.style.setProperty("--content", `${total * height + 2}px`);
    const first = Math.max(0, Math.floor(this.node.scrollTop / height) - MARGIN);
    const last = Math.min(total, Math.ceil((this.node.scrollTop + this.node.clientHeight) / height) + MARGIN);
    const wanted = Math.max(0, last - first);
    while (this.rows.length < wanted) {
      const row = this.options.make();
      row.classList.add("row");
      row.role = "option";
      this.rows.push(row);
      this.room.append(row);
    }
    this.rows.forEach((row, place) => {
      row.hidden = place >= wanted;
      if (row.hidden) return;
      const index = first + place;
      const item = this.at(index)!;
      const number = this.options.number(item);
      row.style.transform = `translateY(${index * height}px)`;
      row.dataset["number"] = String(number);
      row.id = `${this.name}-${number}`;
      row.ariaPosInSet = String(index + 1);
      row.ariaSetSize = String(this.items.length);
      row.ariaSelected = String(number === this.active);
      this.options.show(row, item);
    });
    if (this.index(this.active) >= 0) this.node.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.node.removeAttribute("aria-activedescendant");
  }
}

/** Sets the text of a part of a row. */
export function part(row: HTMLElement, index: number, text: string): void {
  say(row.children[index]!, text);
}
