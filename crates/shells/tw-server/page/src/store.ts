// What the page knows: streams, properties, the latest violations. Whatever comes is noted at once and shown with the next
// frame, however much comes in between.

import { Refused, json, violations, type History, type Property, type Stream, type Violation } from "./api";
import { Feed, type Told } from "./feed";

/** Violations kept here; older ones are the server's to know. */
export const KEPT = 20_000;
/** Violations of the past that are fetched at first. */
const PAST = 10_000;
/** Seconds of history. */
export const SECONDS = 600;
const POLL = 2_000;

export const keyOf = (own: { stream: string; spec: string; property: string }) => `${own.stream}\n${own.spec}\n${own.property}`;

export class Store {
  streams: Stream[] = [];
  properties: Property[] = [];
  /** Lines each second, per stream; the last is that before now. */
  rates = new Map<string, number[]>();
  /** What queries were worth each second. */
  values = new Map<string, (number | null)[]>();
  now = 0;
  /** In the order of their numbers; the first may be gone on the server, too. */
  violations: Violation[] = [];
  /** All that were ever found. */
  end = 0;
  loaded = false;
  error: Error | null = null;
  /** Why the server does not let this page in: nothing is asked until there is another token. */
  denied: Refused | null = null;
  feed: Feed | null = null;

  private tick = 0;
  private byKey = new Map<string, Property>();
  private frame = 0;
  private soon = 0;
  private asking = false;
  private starts = 0;

  /** `draw` is called once per frame in which something changed, `refused` when the server lets this page in no more. */
  constructor(
    private readonly draw: () => void,
    private readonly refused: (why: Refused) => void,
  ) {}

  async start(): Promise<void> {
    this.feed?.stop();
    this.feed = null;
    [this.denied, this.error] = [null, null];
    const own = (this.starts += 1);
    try {
      // One request tells whether the token is good; more would be as many guesses.
      await json("/v1/streams");
      await this.refresh();
      await this.past();
    } catch (error) {
      if (own === this.starts) this.failed(error as Error);
      throw error;
    }
    if (own !== this.starts) return;
    const feed = new Feed(
      this.end,
      (told) => this.take(told),
      () => this.changed(),
      () => this.reconnected(),
      (why) => this.failed(why),
    );
    this.feed = feed;
    this.loaded = true;
    this.changed();
    const poll = async () => {
      // A page that nobody sees asks less.
      if (feed.connection.state === "live" && !document.hidden) await this.refresh().catch(() => {});
      if (feed.connection.state !== "ended") setTimeout(poll, POLL);
    };
    setTimeout(poll, POLL);
  }

  /** What was asked was not answered. */
  private failed(error: Error): void {
    this.error = error;
    if (error instanceof Refused && error.denied && !this.denied) {
      this.denied = error;
      this.feed?.stop();
      this.refused(error);
    }
    this.changed();
  }

  /** Draws with the next frame. */
  changed(): void {
    // A hidden page has no frames.
    this.frame ||= document.hidden
      ? (setTimeout(() => this.drawn(), 200) as unknown as number)
      : requestAnimationFrame(() => this.drawn());
  }

  private drawn(): void {
    this.frame = 0;
    this.draw();
  }

  property(stream: string, spec: string, property: string): Property | undefined {
    return this.byKey.get(keyOf({ stream, spec, property }));
  }

  /** The place of the first violation whose number is not below one. */
  from(number: number): number {
    let [low, high] = [0, this.violations.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.violations[middle]!.number < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async refresh(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      const [streams, properties] = await Promise.all([
        json<{ streams: Stream[] }>("/v1/streams"),
        json<{ properties: Property[] }>("/v1/properties"),
        this.history(),
      ]);
      this.streams = streams.streams;
      this.properties = properties.properties;
      this.byKey = new Map(this.properties.map((own) => [keyOf(own), own]));
      this.error = null;
      this.changed();
    } catch (error) {
      this.failed(error as Error);
      throw error;
    } finally {
      this.asking = false;
    }
  }

  private async history(): Promise<void> {
    const news = await json<History>(`/v1/history?since=${this.tick}`);
    // A server that began again counts from zero.
    if (news.tick < this.tick) {
      this.tick = 0;
      this.rates.clear();
      this.values.clear();
    }
    const add = <T>(to: Map<string, T[]>, key: string, more: T[]) => {
      to.set(key, [...(to.get(key) ?? []), ...more].slice(-SECONDS));
    };
    news.streams.forEach((own) => add(this.rates, own.stream, own.lines));
    news.values.forEach((own) => add(this.values, keyOf(own), own.values));
    this.tick = news.tick;
    this.now = news.now;
  }

  private async past(): Promise<void> {
    const { end } = await violations(Number.MAX_SAFE_INTEGER, 1);
    const { found, next } = await violations(Math.max(0, end - PAST), PAST);
    this.violations = found;
    this.end = next;
  }

  private async reconnected(): Promise<void> {
    await this.refresh();
    const { end } = await violations(Number.MAX_SAFE_INTEGER, 1);
    // Another store than before.
    if (end < this.end) {
      await this.past();
      if (this.feed) this.feed.next = this.end;
    }
  }

  private take(told: Told[]): void {
    let other = false;
    for (const { violation } of told) {
      if (!violation) {
        other = true;
        continue;
      }
      this.violations.push(violation);
      this.end = violation.number + 1;
      const own = this.byKey.get(keyOf(violation));
      if (!own) {
        other = true;
        continue;
      }
      if (own.state !== "stopped") own.state = "violated";
      own.violations = (own.violations ?? 0) + 1;
      own.last = violation;
    }
    // By the thousand, so that dropping costs nothing per violation.
    if (this.violations.length > KEPT + 1000) this.violations.splice(0, this.violations.length - KEPT);
    // A new stream or property, a verdict: asked for, but not for each.
    if (other && !this.soon) {
      this.soon = setTimeout(() => {
        this.soon = 0;
        void this.refresh().catch(() => {});
      }, 250) as unknown as number;
    }
    this.changed();
  }
}
