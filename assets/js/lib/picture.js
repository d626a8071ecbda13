// What an element shows, as an SVG that stands alone: its nodes in a foreignObject, each with the styles that the
// browser has computed for it, so that no sheet, ancestor, media query or variable is needed any more.
//
// Limits of foreignObject that shape this: an SVG that is drawn as an image loads nothing, so canvases and images come
// as data; one from a blob: address taints the canvas that it is drawn to, one from a data: address does not.
//
// By hand, since modern-screenshot 4.7 needs 0.4 to 1.1 s for a frame of the player where this takes 0.03 to 0.3 s, writes an
// SVG three to six times as large, and leaves out the parts of controls and the rounding to a pixel's 64ths.

import { all, context2d, el } from "./dom.js";
import { request } from "./server.js";

/** A picture as SVG, its size in CSS px, and of a film how long it is shown. @typedef {{svg: string, width: number, height: number, ms?: number}} Picture */

const MARGIN = 24; // CSS px around the element: shadows and focus rings reach beyond it
const LINE = 18; // of the words below it
const FONT = "12px Inter, system-ui, sans-serif";
// What scripts and animations may set though no sheet names it.
const ALWAYS = [
  "width",
  "height",
  "opacity",
  "visibility",
  "transform",
  "translate",
  "scale",
  "rotate",
  "filter",
  "clip-path",
];
const STILL =
  /^(--|transition|animation|cursor|pointer-events|will-change|view-transition|scroll|overscroll|touch-action|content-visibility)/;
const SIZES =
  /^(width|height|grid-template-(columns|rows)|(block|inline)-size|top|left|right|bottom|inset.*|margin.*|padding.*|.*gap)$/;
// Always declared: a width reads as 0 as long as no line is drawn, and the browser's own are in em of something else.
const ALWAYS_DECLARED = /(^border-.*|outline|rule)-width$|^font-(size|weight)$|^margin-/;
const COPIED = /^(?!class$|style$|tabindex$|data-|on|src$|srcset$|contenteditable$)/;

/** All style rules of the page, those inside @media and the like too, where they hold.
 * @param {Iterable<CSSRule>} rules @returns {Generator<CSSStyleRule, void>} */
function* rulesOf(rules) {
  for (const rule of rules) {
    if (rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches) continue;
    if (rule instanceof CSSStyleRule) yield rule;
    if ("cssRules" in rule) yield* rulesOf(/** @type {CSSGroupingRule} */ (rule).cssRules);
  }
}

/** The rules of a sheet; none of a foreign one: not ours, not needed. @param {CSSStyleSheet} sheet @returns {CSSRule[]} */
function rulesIn(sheet) {
  try {
    return [...sheet.cssRules];
  } catch {
    return [];
  }
}

/** The page's own font as a rule that holds it, since a picture loads nothing; "" where the page has none or it cannot be had. */
export async function ownFont() {
  const faces = [...document.styleSheets]
    .flatMap(rulesIn)
    .filter((rule) => rule instanceof CSSFontFaceRule);
  const face = faces.find(({ style }) => style.getPropertyValue("font-family") === "Inter");
  const url = face?.style.getPropertyValue("src").match(/url\("?([^")]+)/)?.[1];
  if (!face || !url) return "";
  const response = await request(new URL(url, document.baseURI)).catch(() => null);
  if (!response?.ok) return "";
  const bytes = new Uint8Array(await response.arrayBuffer());
  const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return face.cssText.replace(/url\([^)]*\)/, `url(data:font/woff2;base64,${data})`);
}

/** Make a place where only the browser's own styles hold: what is the same there need not be declared. */
function makeBare() {
  const host = el("div", { hidden: true });
  const inside = host.attachShadow({ mode: "open" });
  const top = el("div", { style: "all:initial" });
  inside.append(top);
  document.body.append(host);
  /** @type {Map<string, (string | null)[]>} */
  const known = new Map();

  /** The values of `properties` of an element like this one. @param {Element} node @param {string[]} properties */
  function values(node, properties) {
    const key = `${node.namespaceURI} ${node.localName} ${node.getAttribute("type") ?? ""} ${node.hasAttribute("disabled")}`;
    let found = known.get(key);
    if (!found) {
      const like = /** @type {Element} */ (node.cloneNode(false));
      for (const name of ["class", "style", "id", "hidden"]) like.removeAttribute(name);
      top.append(like);
      const style = getComputedStyle(like);
      found = properties.map((name) =>
        ALWAYS_DECLARED.test(name) ? null : style.getPropertyValue(name),
      );
      known.set(key, found);
    }
    return found;
  }

  return { host, top, values };
}

/** Make what copies elements; kept for many frames, it reads the page's sheets once.
 * @param {HTMLElement} root @param {string} without a selector: such nodes leave their places empty, and those at the lower
 * edge no place */
export function makeCamera(root, without = "", font = "") {
  const sheets = [...document.styleSheets, ...document.adoptedStyleSheets];
  const rules = [...rulesOf(sheets.flatMap(rulesIn))];
  const named = new Set(ALWAYS);
  for (const { style } of rules) for (const name of style) named.add(name);
  for (const { style } of all(root, "[style]")) for (const name of style) named.add(name);
  const properties = [...named].filter((name) => !STILL.test(name));
  /** The class of each set of declarations. @type {Map<string, string>} */
  const classes = new Map();
  let moving = false;
  let scrolled = 0; // elements around the one being copied that are
  const plain = makeBare();
  const block = plain.values(plain.top, properties);
  const inline = plain.values(el("span"), properties);

  function close() {
    plain.host.remove();
  }

  /** The declarations that this style needs beyond the browser's own and, if they are inherited, its parent's.
   * @param {string[]} values @param {(string | null)[]} bare @param {(string | null)[]} above */
  function declare(values, bare, above) {
    const words = [];
    for (let k = 0; k < values.length; k++) {
      let value = values[k];
      if (value === bare[k] && value === above[k]) continue;
      const name = properties[k];
      if (/url\("(?!data:|#)/.test(value)) value = "none";
      // Lengths are read with six digits, and are whole 64ths of a pixel: a little less, and a line of text would break.
      if (SIZES.test(name))
        value = value.replace(/\d+\.\d+px/g, (px) => `${Math.round(parseFloat(px) * 128) / 128}px`);
      if (name.startsWith("overflow")) value = value.replace(/auto|scroll/, "hidden");
      words.push(`${name}:${value}`);
    }
    return words.join(";");
  }

  /** @param {CSSStyleDeclaration} style */
  function valuesOf(style) {
    return properties.map((name) => style.getPropertyValue(name));
  }

  /** One class for each different set of declarations. @param {string} words */
  function classOf(words) {
    const name = classes.get(words) ?? `c${classes.size}`;
    classes.set(words, name);
    return name;
  }

  /** The copy of a node, if it is shown. @param {Node} node @param {(string | null)[]} above @returns {Node | null} */
  function copy(node, above) {
    if (node.nodeType === Node.TEXT_NODE) return node.cloneNode();
    return node instanceof Element ? copyElement(node, above) : null;
  }

  /** @param {Element} node @param {(string | null)[]} above */
  function copyElement(node, above) {
    if (node.matches(moving ? "script, style" : "script, style, .fa-motion")) return null;
    const style = getComputedStyle(node);
    if (style.display === "none" && node instanceof HTMLElement) return null;
    const values = valuesOf(style);
    const bare = plain.values(node, properties);
    let words = declare(values, bare, above);
    for (const side of ["::before", "::after"]) {
      const beside = getComputedStyle(node, side);
      if (/^(none|normal)$/.test(beside.content)) continue;
      words += `|${side}{content:${beside.content};${declare(valuesOf(beside), inline, values)}}`;
    }
    const twin = twinOf(node);
    twin.setAttribute("class", classOf(words));
    if (scrolled && style.position === "sticky") stick(/** @type {HTMLElement} */ (node), twin);
    const { scrollLeft, scrollTop } = node;
    const away = scrollLeft || scrollTop ? 1 : 0; // what was scrolled away stays away
    if (without && node.matches(without)) {
      twin.style.cssText = "visibility:hidden;vertical-align:top"; // without words it has no baseline to give to its line
      return twin;
    }
    scrolled += away;
    for (const child of node.childNodes) {
      const below = copy(child, values);
      if (!below) continue;
      twin.append(below);
      if (away && child instanceof Element)
        /** @type {HTMLElement} */ (below).style.translate = `${-scrollLeft}px ${-scrollTop}px`;
    }
    scrolled -= away;
    return twin;
  }

  /** Nothing scrolls in a picture: what sticks is moved from its place in the flow to where it is. @param {HTMLElement} node @param {HTMLElement} twin */
  function stick(node, twin) {
    const now = node.getBoundingClientRect();
    const { position } = node.style;
    node.style.position = "static";
    const flow = node.getBoundingClientRect();
    node.style.position = position;
    twin.style.cssText = `position:relative;inset:${now.top - flow.top}px auto auto ${now.left - flow.left}px`;
  }

  /** The same element, with what was typed or chosen in it; a canvas becomes an image. @param {Element} node */
  function twinOf(node) {
    if (node instanceof HTMLCanvasElement) {
      const { width, height } = node;
      return width && height ? el("img", { src: node.toDataURL("image/png") }) : el("span");
    }
    const twin = /** @type {HTMLElement} */ (node.cloneNode(false));
    for (const { name } of [...twin.attributes]) if (!COPIED.test(name)) twin.removeAttribute(name);
    if (node instanceof HTMLInputElement) {
      twin.setAttribute("value", node.value);
      twin.toggleAttribute("checked", node.checked);
    }
    return twin;
  }

  /** {svg: text, width, height in CSS px} of what is shown now, on the page's paper, with these words below. Whatever
   * moves is first brought to its end, unless the picture is of what `isMoving`.
   * @param {string} words */
  function picture(words, isMoving = false) {
    moving = isMoving;
    for (const animation of moving ? [] : root.getAnimations({ subtree: true }))
      if (Number(animation.effect?.getComputedTiming().endTime) < Infinity) animation.finish();
    classes.clear();
    const box = root.getBoundingClientRect();
    const wide = Math.ceil(Math.max(box.width, root.scrollWidth));
    const high = Math.ceil(heightOf(box));
    const copy = copyElement(root, block) ?? el("div");
    copy.style.cssText = "margin:0;position:relative;inset:auto;translate:none";
    const place = el("div", [sheet(), copy]);
    const { paper, ink } = colors(root);
    const pen = context2d(el("canvas"));
    pen.font = FONT;
    const lines = Math.ceil(pen.measureText(words).width / (0.9 * wide)); // a word may leave a tenth of a line empty
    const [width, height] = [wide + 2 * MARGIN, high + 2 * MARGIN + lines * LINE];
    const style = `margin:0;font:${FONT};line-height:${LINE}px;color:${ink}`;
    const sentence = root.querySelector("[data-testid=sentence]")?.textContent ?? "";
    const xml = (/** @type {Node} */ node) => new XMLSerializer().serializeToString(node);
    const svg = [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
      `<title>${escaped(words)}</title><desc>${escaped(sentence)}</desc><rect width="100%" height="100%" fill="${paper}"/>`,
      `<foreignObject x="${MARGIN}" y="${MARGIN}" width="${wide}" height="${high}" style="overflow:${without ? "hidden" : "visible"}">`,
      `${xml(place)}</foreignObject>`,
      `<foreignObject x="${MARGIN}" y="${height - lines * LINE - 8}" width="${wide}" height="${lines * LINE}">`,
      `${xml(el("p", { style, text: words }))}</foreignObject></svg>`,
    ].join("");
    return { svg, width, height };
  }

  /** Down to where the last of what is shown ends. @param {DOMRect} box */
  function heightOf(box) {
    if (!without) return Math.max(box.height, root.scrollHeight);
    /** @type {(node: Element) => Element[]} */
    const visible = (node) => {
      const { display, position } = getComputedStyle(node);
      if (node.matches(without) || display === "none" || /absolute|fixed/.test(position)) return [];
      return display === "contents" ? [...node.children].flatMap(visible) : [node];
    };
    return (
      Math.max(
        ...[...root.children].flatMap(visible).map((node) => node.getBoundingClientRect().bottom),
      ) - box.top
    );
  }

  /** A style sheet of all classes that were named. */
  function sheet() {
    const sheet = el("style");
    const rule = (/** @type {[string, string]} */ [words, name]) =>
      words
        .split(/\|(?=::)/)
        .map((part, k) => (k ? `.${name}${part}` : `.${name}{${part}}`))
        .join("\n");
    sheet.textContent = [font, ...[...classes].map(rule)].join("\n");
    return sheet;
  }

  return { close, picture };
}

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The first paper that is not clear, from here up, and the ink of this element. @param {Element} root */
function colors(root) {
  let node = root.parentElement;
  while (node && /^(transparent|rgba\(.*, 0\))$/.test(getComputedStyle(node).backgroundColor))
    node = node.parentElement;
  return {
    paper: node ? getComputedStyle(node).backgroundColor : "#fff",
    ink: getComputedStyle(root).color,
  };
}

/** Draws a picture at the top left of a canvas, `scale` pixels to a CSS px. @param {Picture} picture @param {HTMLCanvasElement} canvas @param {number} scale */
export async function draw({ svg, width, height }, canvas, scale) {
  // Without this, a canvas puts the baselines of an image's text on whole CSS px, then scales.
  const exact = svg.replace("<svg ", '<svg text-rendering="geometricPrecision" ');
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(exact)}`;
  await image.decode();
  context2d(canvas).drawImage(image, 0, 0, width * scale, height * scale);
}
