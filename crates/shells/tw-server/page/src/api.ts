// What the server is asked, and what it says. The token goes in a header, never in an address: addresses end up in logs.

export type Stamp = number | string | null;

export interface Line {
  line: number;
  text: string;
}

export interface Violation {
  /** Its place among all violations. */
  number: number;
  id: string;
  stream: string;
  spec: string;
  property: string;
  position: number;
  time: Stamp;
  bindings: Record<string, unknown>;
  line: Line | null;
  explanation: string;
  count?: number;
  settled_by?: number;
  category?: string;
  severity?: string;
}

export interface Obligation {
  since: number;
  line: number | null;
  owed: string;
  deadline?: Stamp;
  deadline_position?: number;
}

export type State = "violated" | "satisfied" | "open" | "stopped";

export interface Property {
  property: string;
  title?: string;
  kind: "property" | "monitor" | "query" | "requirement";
  text: string;
  spec: string;
  stream: string;
  state: State;
  stopped?: string;
  value?: { value: unknown; error?: string; bindings?: Record<string, unknown> } | null;
  violations?: number;
  last?: Violation | null;
  pending?: Obligation[];
  pending_count?: number;
  positions: number;
  left_out?: number;
  last_left_out?: string;
  current: boolean;
}

export interface Stream {
  stream: string;
  lines: number;
  first_line: number;
  bytes: number;
  behind: number;
  specs: string[];
}

/** What happened each second; the arrays end with the second `tick`. */
export interface History {
  tick: number;
  now: number;
  streams: { stream: string; lines: number[] }[];
  values: { stream: string; spec: string; property: string; values: (number | null)[] }[];
}

export interface Diagnostic {
  line: number | null;
  column: number | null;
  code?: string;
  severity: string;
  message: string;
  help?: string | null;
  labels?: { line: number; column: number; end_line: number; end_column: number; text: string }[];
}

export interface Step {
  formula: string;
  holds: boolean | null;
  from: number;
  to: number;
  time: Stamp;
  reason: string;
  values: Record<string, unknown>;
  line: Line | null;
  pending_since: number | null;
  because: Step[];
}

/** An answer that is not what was asked for. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly diagnostics: Diagnostic[] = [],
    /** Seconds after which the server wants to be asked again. */
    readonly after = 0,
  ) {
    super(message);
  }

  /** Whether it is the token that does not do: asking again is no use, and counted as a guess. */
  get denied(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

const TOKEN = "tracewise-token";

/** The token, kept as long as this tab. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value: string) => (value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN)),
};

/** Told when the server wants a token, and what it says of the one that it got. */
let wanted: (why: string) => void = () => {};
export const onTokenWanted = (tell: (why: string) => void) => {
  wanted = tell;
};

/** Asks the server; answers other than good ones are errors in the server's words. */
export async function ask(path: string, request: RequestInit = {}): Promise<Response> {
  const headers = new Headers(request.headers);
  const own = token.get();
  if (own) headers.set("authorization", `Bearer ${own}`);
  const answer = await fetch(path, { ...request, headers, cache: "no-store", credentials: "same-origin", referrerPolicy: "no-referrer" });
  if (answer.ok) return answer;
  const refused = await refusal(answer);
  // What was asked with an earlier token says nothing of this one.
  if (answer.status === 401 && own === token.get()) {
    token.set("");
    wanted(own ? refused.message : "");
  }
  throw refused;
}

/** What an answer says that is not what was asked for. */
async function refusal(answer: Response): Promise<Refused> {
  const after = Number(answer.headers.get("retry-after")) || 0;
  const said = await answer.text();
  let found: { error?: string; diagnostics?: unknown[] } = {};
  try {
    found = JSON.parse(said) as typeof found;
  } catch {
    // Something between the server and this page answered.
  }
  return new Refused(answer.status, found.error ?? `the server answered ${answer.status}`, diagnostics(found.diagnostics), after);
}

/** The same, for JSON. */
export async function json<T>(path: string, request?: RequestInit): Promise<T> {
  return (await (await ask(path, request)).json()) as T;
}

/** Findings, out of their envelopes `{"error": …}` and `{"warning": …}`. */
export function diagnostics(found: unknown[] | undefined): Diagnostic[] {
  return (found ?? []).map((one) => {
    const { error, warning } = one as { error?: Diagnostic; warning?: Diagnostic };
    return error ?? warning ?? (one as Diagnostic);
  });
}

/** A query of what is there. */
export function query(parts: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(parts).filter(([, value]) => value !== undefined);
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
}

/** Violations from a number on, each with its number. */
export async function violations(since: number, limit: number): Promise<{ found: Violation[]; next: number; end: number }> {
  const answer = await json<{ violations: Violation[]; next: number; end: number }>(`/v1/violations?${query({ since, limit })}`);
  // Without a filter they follow each other.
  const first = answer.next - answer.violations.length;
  answer.violations.forEach((one, index) => (one.number = first + index));
  return { found: answer.violations, next: answer.next, end: answer.end };
}
