// Places of this page: what stands behind the `#` of an address.

export type Place =
  | { at: "overview" }
  | { at: "violations"; stream?: string }
  | { at: "property"; stream: string; spec: string; property: string; violation?: string }
  | { at: "stream"; stream: string }
  | { at: "specs"; spec?: string };

const join = (...parts: string[]): `#/${string}` => `#/${parts.map(encodeURIComponent).join("/")}`;

export const to = {
  overview: "#/" as const,
  violations: "#/violations" as const,
  specs: "#/specs" as const,
  spec: (spec: string) => join("specs", spec),
  stream: (stream: string) => join("stream", stream),
  property: (own: { stream: string; spec: string; property: string }, violation?: string) =>
    join("property", own.stream, own.spec, own.property, ...(violation ? [violation] : [])),
};

/** The place of an address; what is none is the overview. */
export function read(hash: string): Place {
  let parts: string[];
  try {
    parts = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return { at: "overview" };
  }
  const [at, stream, spec, property, violation] = parts;
  if (at === "violations") return { at };
  if (at === "specs") return stream ? { at, spec: stream } : { at };
  if (at === "stream" && stream) return { at, stream };
  if (at === "property" && stream && spec && property) {
    return { at, stream, spec, property, ...(violation ? { violation } : {}) };
  }
  return { at: "overview" };
}
