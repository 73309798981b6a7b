// Light and dark: as the system has it, or as it was chosen here.

import { el, say } from "./dom";

const KEY = "tracewise-theme";
const CHOICES = ["auto", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

const chosen = (): Choice => CHOICES.find((own) => own === localStorage.getItem(KEY)) ?? "auto";

function apply(): void {
  document.documentElement.dataset["theme"] = chosen();
  document.dispatchEvent(new Event("themechange"));
}

/** The switch. */
export function button(): HTMLButtonElement {
  const node = el("button", { type: "button", class: "theme" });
  const tell = () => {
    say(node, `Theme: ${chosen()}`);
    node.ariaLabel = `Theme: ${chosen()}, change`;
  };
  node.addEventListener("click", () => {
    const next = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length]!;
    if (next === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    apply();
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
  tell();
  return node;
}
