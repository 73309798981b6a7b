// Which streams a specification is about, read from its text while it is written.

const TOKENS = /\/\/.*|\/\*[^]*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|`[^`]*`?|[A-Za-z_][\w.-]*|\S/g;

/** The names that its `trace` block gives, with `*` for any part of one; nothing if it names none: it is about all then. */
export function streamsOf(text: string): string[] | null {
  const tokens = Array.from(text.matchAll(TOKENS), ([token]) => token).filter((token) => !/^\/[/*]/.test(token));
  const block = tokens.findIndex((token, at) => token === "trace" && tokens[at + 1] === "{");
  if (block < 0) return null;
  for (let at = block + 2; at < tokens.length && tokens[at] !== "}"; at += 1) {
    if (tokens[at] !== "stream" || tokens[at + 1] !== ":") continue;
    const value = /^["`]/.test(tokens[at + 2] ?? "") ? tokens[at + 2]!.slice(1, -1) : (tokens[at + 2] ?? "");
    const names = value.split(",").map((name) => name.trim());
    const good = names.filter((name) => /^[\w.*-]+$/.test(name));
    return good.length > 0 ? good : null;
  }
  return null;
}

/** Whether a name, with at most one `*`, takes a stream. */
export function takes(pattern: string, stream: string): boolean {
  const [start, end] = pattern.split("*");
  if (end === undefined) return pattern === stream;
  return stream.length >= start!.length + end.length && stream.startsWith(start!) && stream.endsWith(end);
}
