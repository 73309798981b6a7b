// What the server tells, the moment it does: server-sent events read from the body of a request, so that the token can go in a
// header. A lost connection is taken up again after the last violation that came.

import { Refused, ask, type Violation } from "./api";

/** A feed that has ended tells nothing more; another begins in its place. */
export type Connection = { state: "connecting" | "live" | "lost" | "ended"; retryAt: number };

export interface Told {
  violation?: Violation;
  /** Something else changed: states are to be asked again. */
  other?: string;
}

/** Longer silence than this is a lost connection: the server shows every 15 s that it is there. */
const SILENCE = 40_000;
const FIRST_RETRY = 500;
const LONGEST_RETRY = 10_000;

export class Feed {
  connection: Connection = { state: "connecting", retryAt: 0 };
  private stopped = false;
  private abort = new AbortController();
  private wait = FIRST_RETRY;
  private wake: () => void = () => {};

  /** `next` is the number of the first violation that is wanted, `again` brings everything up to date after a loss. */
  constructor(
    public next: number,
    private readonly tell: (told: Told[]) => void,
    private readonly changed: () => void,
    private readonly again: () => Promise<void>,
    /** The server lets this page in no more. */
    private readonly denied: (why: Refused) => void,
  ) {
    void this.run();
    globalThis.addEventListener("online", () => this.now());
  }

  /** Tries again without waiting. */
  now(): void {
    this.wait = FIRST_RETRY;
    this.wake();
  }

  stop(): void {
    this.stopped = true;
    this.connection = { state: "ended", retryAt: 0 };
    this.abort.abort();
    this.wake();
  }

  private set(state: Connection["state"], retryAt = 0): void {
    this.connection = { state, retryAt };
    this.changed();
  }

  private async run(): Promise<void> {
    let lost = false;
    while (!this.stopped) {
      try {
        if (lost) await this.again();
        await this.listen();
      } catch (error) {
        if (this.stopped) return;
        if (error instanceof Refused && error.denied) {
          this.stop();
          this.denied(error);
          return;
        }
      }
      if (this.stopped) return;
      lost = true;
      this.set("lost", Date.now() + this.wait);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.wait);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wait = Math.min(this.wait * 2, LONGEST_RETRY);
    }
  }

  private async listen(): Promise<void> {
    const abort = (this.abort = new AbortController());
    let timer = setTimeout(() => abort.abort(), SILENCE);
    try {
      const answer = await ask(`/v1/feed?since=${this.next}`, { signal: abort.signal, headers: { accept: "text/event-stream" } });
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      this.set("live");
      this.wait = FIRST_RETRY;
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENCE);
        rest = this.take(rest + value);
      }
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  /** Tells whole events; gives back what is left of the last. */
  private take(text: string): string {
    const told: Told[] = [];
    let from = 0;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      const event = this.event(text.slice(from, end));
      if (event) told.push(event);
      from = end + 2;
    }
    if (told.length > 0) this.tell(told);
    return text.slice(from);
  }

  private event(block: string): Told | null {
    let [kind, data, id] = ["", "", ""];
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) kind = line.slice(7);
      else if (line.startsWith("data: ")) data += line.slice(6);
      else if (line.startsWith("id: ")) id = line.slice(4);
    }
    if (kind !== "violation") return kind ? { other: kind } : null;
    const violation = JSON.parse(data) as Violation;
    violation.number = Number(id);
    // Told twice, after a loss.
    if (violation.number < this.next) return null;
    this.next = violation.number + 1;
    return { violation };
  }
}
