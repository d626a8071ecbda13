// The few DOM helpers that the views share. Text always goes in as text, never as markup.

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes `text` is the text; null and false are left out, true is "" */
/** @typedef {(Node | string | null | undefined | false)[]} Children those that are nothing are left out */

const SVG = "http://www.w3.org/2000/svg";

/** @template {Element} T @param {(tag: string) => T} create @param {string} selector @param {Attributes | Children | string} given
 * @param {Children} children @returns {T} */
function make(create, selector, given, children) {
  if (typeof given === "string") return make(create, selector, {}, [given]);
  if (Array.isArray(given)) return make(create, selector, {}, given);
  const [tag, ...classes] = selector.split(".");
  const node = create(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(given)) {
    if (name === "text") node.textContent = String(value ?? "");
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return node;
}

/** An element by its tag, with the classes that follow it as in a selector: `el("p.fa-note", { id }, children)`; attributes may be
 * left out, and a text stand in place of children.
 * @template {keyof HTMLElementTagNameMap} K @param {K | `${K}.${string}`} name @param {Attributes | Children | string} [attributes] @param {Children} [children] */
export function el(name, attributes = {}, children = []) {
  const create = (/** @type {string} */ tag) => document.createElement(/** @type {K} */ (tag));
  return make(create, name, attributes, children);
}

/** The same of SVG. @template {keyof SVGElementTagNameMap} K @param {K | `${K}.${string}`} name @param {Attributes | Children | string} [attributes]
 * @param {Children} [children] */
export function svg(name, attributes = {}, children = []) {
  const create = (/** @type {string} */ tag) =>
    document.createElementNS(SVG, /** @type {K} */ (tag));
  return make(create, name, attributes, children);
}

/** What draws on a canvas. @template {HTMLCanvasElement | OffscreenCanvas} T @param {T} canvas
 * @returns {T extends HTMLCanvasElement ? CanvasRenderingContext2D : OffscreenCanvasRenderingContext2D} */
export const context2d = (canvas) => /** @type {any} */ (canvas.getContext("2d")); // null only of another kind of context

/** A button with this text, or these nodes. @param {string | Children} content @param {(event: MouseEvent) => void} act @param {Attributes} [attributes]
 * @param {Children} [children] */
export function button(content, act, attributes = {}, children = []) {
  const node = el("button", { type: "button", ...attributes }, [content, children].flat());
  node.addEventListener("click", act);
  return node;
}

/** A button that copies this text. It says for a moment that it did so; where there is no clipboard, what `otherwise` does
 * and returns.
 * @param {HTMLElement} node @param {() => string} text @param {string} done @param {() => string} otherwise */
export async function copyText(node, text, done, otherwise) {
  const label = node.textContent;
  try {
    await navigator.clipboard.writeText(text());
    node.textContent = done;
  } catch {
    node.textContent = otherwise();
  }
  setTimeout(() => {
    node.textContent = label;
  }, 1600);
}

/** The nodes of HTML that a template of the server made, which escapes every value. @param {string} html */
export const parseHtml = (html) =>
  new DOMParser().parseFromString(html, "text/html").body.childNodes;

/** The element of a selector. Raises TypeError if there is none. @template {HTMLElement} [T=HTMLElement]
 * @param {ParentNode} root @param {string} selector @returns {T} */
export function get(root, selector) {
  /** @type {T | null} */
  const node = find(root, selector);
  if (!node) throw new TypeError(`no ${selector}`);
  return node;
}

/** The element of a selector, or null. @template {HTMLElement} [T=HTMLElement]
 * @param {ParentNode} root @param {string} selector @returns {T | null} */
export const find = (root, selector) => root.querySelector(selector);

/** All elements of a selector. @template {HTMLElement} [T=HTMLElement]
 * @param {ParentNode} root @param {string} selector @returns {T[]} */
export const all = (root, selector) => [
  .../** @type {NodeListOf<T>} */ (root.querySelectorAll(selector)),
];

/** The first element of a selector that is on screen. @param {ParentNode} root @param {string} selector */
export const findVisible = (root, selector) =>
  all(root, selector).find((node) => node.checkVisibility());

/** Where an event happened: the element itself.
 * @param {Event} event @returns {HTMLElement} */
export const targetOf = ({ target }) => /** @type {HTMLElement} */ (target);

/** Around where an event happened: the element of a selector, or null.
 * @param {Event} event @param {string} selector @returns {HTMLElement | null} */
export const around = ({ target }, selector) =>
  target instanceof Element ? target.closest(selector) : null;

/** @param {EventTarget} target @param {string[]} names @param {(event: any) => void} act @param {AddEventListenerOptions} [options] */
export function on(target, names, act, options) {
  for (const name of names) target.addEventListener(name, act, options);
}

let wasDark = false;

/** Shows the page in presentation mode, which is light, or as on a desk, in the colours that it had there.
 * @param {boolean} on */
export function setPresenting(on) {
  const { classList } = document.body;
  if (on) wasDark ||= classList.contains("dark");
  classList.toggle("fa-present", on);
  if (on || wasDark) classList.toggle("dark", !on);
  if (!on) wasDark = false;
}

export const isPresenting = () => document.body.classList.contains("fa-present");

/** Does presentation mode enlarge a page that is one picture? A phone keeps its own layout. */
export const isEnlarged = () =>
  isPresenting() && !document.documentElement.classList.contains("fa-narrow");

/** Does the visitor want no motion? */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Calls `act` whenever the theme of the page changes, or what kind of screen it is for.
 * @param {() => void} act */
export function onTheme(act) {
  const changes = new MutationObserver(act);
  changes.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  return changes;
}

/** Calls `act` now and whenever the size of a node changes, until `root` has left the page.
 * @param {Element} node @param {Element} root @param {() => void} act */
export const onResize = (node, root, act) =>
  new ResizeObserver((_, observer) => (root.isConnected ? act() : observer.disconnect())).observe(
    node,
  );

/** Writes only what changed: an unchanged attribute or text costs no style recalculation.
 * @param {Element} node @param {Attributes} attributes */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") setText(node, String(value ?? ""));
    else if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }
}

/** Writes a text where it is another one: an unchanged one is not read aloud again. @param {Element} node @param {string | number} text */
export function setText(node, text) {
  if (node.textContent !== String(text)) node.textContent = String(text);
}

/** Gives a node the keyboard; the page stays where it is. @param {HTMLElement | null | undefined} node */
export const giveFocus = (node) => node?.focus({ preventScroll: true });

/** A place as a style, in px. @param {{x: number, y: number, width: number, height: number}} box */
export const boxStyle = ({ x, y, width, height }) =>
  `left:${x}px;top:${y}px;width:${width}px;height:${height}px`;

/** A card: title, one quiet remark, body. @param {string} name @param {string} title @param {string} remark @param {Children} body */
export function card(name, title, remark, body) {
  const note = el("span.fa-remark", remark);
  const head = el("div.fa-card-head", [el("h2", title), note]);
  return {
    root: el("section", { class: `fa-card fa-${name}`, "aria-label": title }, [head, ...body]),
    head,
    note,
  };
}
