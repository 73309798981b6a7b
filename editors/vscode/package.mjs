// Packs the extension: a `.vsix` is a ZIP archive with a manifest. Run `npm ci` before, which fetches what the client needs.
//   npm run package [-- FILE.vsix]
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, files, zip } from "./zip.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const about = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const own = ["package.json", "client.js", "language-configuration.json", "README.md", "syntaxes", "snippets"];
const entries = own.flatMap((name) => files(here, name));
// What the client needs, and what that needs: the packages of the lock file that are no tools.
const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
for (const [path, info] of Object.entries(lock.packages)) {
  if (path && !info.dev) {
    if (!readdirSync(here).includes("node_modules")) {
      throw new Error("`node_modules` is missing: run `npm ci` first");
    }
    entries.push(...files(here, path).filter((name) => !/\.(d\.ts|map|md)$/.test(name) && !name.slice(path.length + 1).startsWith("node_modules/")));
  }
}
for (const license of ["LICENSE-MIT", "LICENSE-APACHE"]) {
  statSync(join(here, "../..", license));
}

const manifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${about.name}" Version="${about.version}" Publisher="${about.publisher}"/>
    <DisplayName>${escape(about.displayName)}</DisplayName>
    <Description xml:space="preserve">${escape(about.description)}</Description>
    <Categories>${about.categories.join(",")}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${about.engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE-MIT</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE-MIT" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
const types = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
${[...new Set(["vsixmanifest", "json", "js", "md", ...entries.map((name) => name.match(/\.([^./]+)$/)?.[1]).filter(Boolean)])]
  .map((end) => `  <Default Extension=".${end}" ContentType="${end === "json" ? "application/json" : end === "vsixmanifest" ? "text/xml" : "application/octet-stream"}"/>`)
  .join("\n")}
</Types>
`;
const out = process.argv[2] ?? join(here, `${about.name}-${about.version}.vsix`);
const packed = zip([
  ["extension.vsixmanifest", Buffer.from(manifest)],
  ["[Content_Types].xml", Buffer.from(types)],
  ...["LICENSE-MIT", "LICENSE-APACHE"].map((name) => [`extension/${name}`, readFileSync(join(here, "../..", name))]),
  ...entries.map((name) => [`extension/${name}`, readFileSync(join(here, name))]),
]);
writeFileSync(out, packed);
console.log(`${out}: ${entries.length + 4} files, ${packed.length} bytes, CRC-32 ${crc32(packed).toString(16)}`);
