// Bundles the page into `dist`, which the server embeds. The output depends on the sources and the lock file alone: no paths,
// no dates, so that continuous integration can build it again and compare.
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, process.argv[2] ?? "dist");

/** Files of a folder and of those in it, in the order of their names. */
function files(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

/** FNV-1a over names and contents: against forgetting to build, not against malice. The Rust test computes the same. */
function fingerprint() {
  const named = [...files(join(root, "src")), ...["build.mjs", "package.json", "package-lock.json", "tsconfig.json"].map((name) => join(root, name))];
  const sources = named.map((path) => [relative(root, path).split(sep).join("/"), path]);
  sources.sort(([a], [b]) => (a < b ? -1 : 1));
  let hash = 0xcbf29ce484222325n;
  const take = (bytes) => {
    for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  };
  for (const [name, path] of sources) {
    take(Buffer.from(`${name}\0`));
    take(readFileSync(path));
  }
  return hash.toString(16).padStart(16, "0");
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: { main: "src/main.ts", editor: "src/editor.ts", style: "src/style.css" },
  outdir: dist,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "none",
  // The editor is fetched when it is opened.
  external: ["./editor.js"],
  logLevel: "warning",
});
writeFileSync(join(dist, "index.html"), readFileSync(join(root, "src/index.html")));
writeFileSync(join(dist, "sources"), `${fingerprint()}\n`);
