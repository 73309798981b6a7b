// The only way in which this page makes elements: text is set as text, attributes are those of a short list, nothing is parsed
// as markup. What comes from a log, a name or a message can therefore be nothing but text.

export type Child = Node | string | number | null | undefined | false;

export interface Attributes {
  class?: string | undefined;
  id?: string;
  title?: string | undefined;
  type?: string;
  name?: string;
  value?: string;
  placeholder?: string;
  autocomplete?: "off" | "current-password";
  spellcheck?: "false";
  role?: string;
  tabindex?: string;
  scope?: string;
  for?: string;
  open?: boolean;
  disabled?: boolean;
  hidden?: boolean;
  selected?: boolean;
  /** A place on this page. */
  href?: `#${string}` | undefined;
  /** A picture as data: nothing is loaded, and scripts in it do not run. */
  src?: `data:image/svg+xml,${string}`;
  alt?: string;
  [aria: `aria-${string}`]: string | undefined;
  onclick?: (event: MouseEvent) => void;
  oninput?: (event: Event) => void;
  onchange?: (event: Event) => void;
  onsubmit?: (event: SubmitEvent) => void;
}

/** What turns the direction of the text behind it, so that it reads in another order than it has. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

/** A text in the order that it has: what would turn it is written as in JSON. */
export function straight(text: string): string {
  return text.replace(TURNING, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
}

/** An element with attributes and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value as EventListener);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== undefined) made.setAttribute(name, name === "title" ? straight(value) : value);
  }
  append(made, ...children);
  return made;
}

/** Appends what is there. */
export function append(to: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    to.append(child instanceof Node ? child : straight(String(child)));
  }
}

/** Puts other children in place of those there were. */
export function fill(to: Element, ...children: Child[]): void {
  to.replaceChildren();
  append(to, ...children);
}

/** Sets a text, if it is another: an unchanged node costs no layout. */
export function say(node: Element, text: string): void {
  const shown = straight(text);
  if (node.textContent !== shown) node.textContent = shown;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function draw(tag: "svg" | "path" | "line" | "title", attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Brings the children of a node in step with items: nodes of items that stay are kept, with their focus. */
export function keyed<T, N extends HTMLElement>(
  parent: HTMLElement,
  known: Map<string, N>,
  items: readonly T[],
  key: (item: T) => string,
  make: (item: T) => N,
  update: (node: N, item: T) => void,
): void {
  const wanted = new Set<string>();
  let at: ChildNode | null = parent.firstChild;
  for (const item of items) {
    const name = key(item);
    wanted.add(name);
    let node = known.get(name);
    if (!node) {
      node = make(item);
      known.set(name, node);
    }
    update(node, item);
    if (node === at) at = node.nextSibling;
    else parent.insertBefore(node, at);
  }
  for (const [name, node] of known) {
    if (wanted.has(name)) continue;
    node.remove();
    known.delete(name);
  }
}
