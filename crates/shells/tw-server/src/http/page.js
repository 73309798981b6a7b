// States are asked for now and then, violations are told by the feed. All text is set as text.
"use strict";
const shown = 200;
const cell = (row, text, kind) => {
  const cell = row.insertCell();
  cell.textContent = text ?? "";
  if (kind) cell.className = kind;
  return cell;
};
async function states() {
  const answer = await fetch("/v1/properties");
  const { properties } = await answer.json();
  const body = document.getElementById("properties");
  body.replaceChildren();
  for (const own of properties) {
    const row = body.insertRow();
    cell(row, own.stream);
    cell(row, own.title ? `${own.property}: ${own.title}` : own.property).title = own.text;
    cell(row, own.kind === "query" ? JSON.stringify(own.value?.value) : own.state, own.state);
    cell(row, own.violations, "number");
    cell(row, own.pending_count, "number");
  }
}
const again = () => states().catch(() => {}).finally(() => setTimeout(again, 2000));
again();
async function listen() {
  const end = await (await fetch("/v1/violations?since=18446744073709551615")).json();
  const newest = end.end ?? 0;
  const feed = new EventSource(`/v1/feed?since=${Math.max(0, newest - shown)}`);
  feed.addEventListener("violation", (event) => {
    const found = JSON.parse(event.data);
    const body = document.getElementById("violations");
    const row = body.insertRow(0);
    cell(row, found.stream);
    cell(row, found.property);
    cell(row, found.position, "number");
    const line = document.createElement("code");
    line.textContent = found.line ? `${found.line.line}: ${found.line.text}` : "";
    row.insertCell().append(line);
    const bound = Object.keys(found.bindings).length ? ` with ${JSON.stringify(found.bindings)}` : "";
    cell(row, found.explanation + bound);
    while (body.rows.length > shown) body.deleteRow(-1);
  });
}
listen();
