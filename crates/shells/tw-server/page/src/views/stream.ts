// One stream: how much comes, who watches it, and its behaviour as a model.

import { json, query } from "../api";
import { Chart } from "../chart";
import { append, el, fill, say, straight } from "../dom";
import { bytes, count } from "../format";
import { type View, badge, section } from "../parts";
import { to } from "../routes";
import type { Store } from "../store";

export function streamView(store: Store, stream: string): View {
  const facts = new Map<string, HTMLElement>();
  const list = el("dl", { class: "facts" });
  for (const name of ["Lines", "Kept from line", "On disk", "Not judged yet"]) {
    const cell = el("dd", {});
    facts.set(name, cell);
    append(list, el("div", {}, el("dt", {}, name), cell));
  }
  const rates = new Chart({ label: "Lines per second", dates: true, kind: "line", paint: "--accent", zero: true, height: 180 });
  const watching = el("ul", { class: "watching", tabindex: "0", "aria-label": "Properties of this stream" });
  const column = el("input", { type: "text", "aria-label": "Column whose value is the state", placeholder: "state column", autocomplete: "off", spellcheck: "false" });
  const key = el("input", { type: "text", "aria-label": "Column that divides the stream into traces", placeholder: "by column (optional)", autocomplete: "off", spellcheck: "false" });
  const picture = el("div", { class: "picture", role: "status" });
  const form = el("form", { class: "bar", onsubmit: (event) => void model(event) }, column, key, el("button", { type: "submit" }, "Merge"));
  const node = el(
    "div",
    { class: "stream" },
    el("h1", { tabindex: "-1" }, stream),
    list,
    el("div", { class: "panels" }, section("Lines per second", rates.node), section("Watched for", watching)),
    section("Model", el("p", { class: "quiet" }, "What the latest lines do, merged into states and steps. A state is the value of a column."), form, picture),
  );
  let watched = "";

  async function model(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    fill(picture, el("p", { class: "quiet" }, "Merging …"));
    try {
      const asked = query({ stream, state: column.value.trim() || undefined, by: key.value.trim() || undefined });
      const { svg, note } = await json<{ svg: string; note: string }>(`/v1/model?${asked}`);
      // As a picture: what is in it is shown, never run.
      const image = el("img", { src: `data:image/svg+xml,${encodeURIComponent(straight(svg))}`, alt: `Model of ${stream}: ${note}` });
      fill(picture, el("p", { class: "quiet" }, note), el("div", { class: "scroll", tabindex: "0" }, image));
    } catch (error) {
      fill(picture, el("p", { class: "bad" }, (error as Error).message));
    }
  }

  function update(): void {
    const own = store.streams.find((one) => one.stream === stream);
    say(facts.get("Lines")!, own ? count(own.lines) : "none yet");
    say(facts.get("Kept from line")!, own ? count(own.first_line) : "");
    say(facts.get("On disk")!, own ? bytes(own.bytes) : "");
    say(facts.get("Not judged yet")!, own ? count(own.behind) : "");
    const past = store.rates.get(stream) ?? [];
    const start = Math.floor(store.now) - past.length + 1;
    rates.set(past.map((_, index) => start + index), past, true);
    const properties = store.properties.filter((one) => one.stream === stream);
    const now = JSON.stringify(properties.map((one) => [one.property, one.state]));
    if (now === watched) return;
    watched = now;
    const row = (one: (typeof properties)[number]) => el("li", {}, one.kind === "query" ? el("span", { class: "state query" }, "value") : badge(one.state), " ", el("a", { href: to.property(one) }, one.property));
    fill(watching, ...properties.map(row), properties.length === 0 && el("li", { class: "quiet" }, "nothing yet"));
  }

  return { node, title: stream, update };
}
