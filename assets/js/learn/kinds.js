// The five kinds of questions: each makes a Form (types.js) of its question.

import { all, button, el, on, set } from "../lib/dom.js";
import { onDrag } from "../lib/drag.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { ARROWS } from "../lib/keys.js";
import { draw } from "./blocks.js";
import { isUnitOf, meets, precision, readings, split } from "./numbers.js";
import { t } from "./texts.js";
import { requestBlocks, settle, SILENT, spokenText } from "./widget.js";

/** @import { Answer, Form, Gap, Question, Verdict } from "./types.js" */

const GAP = "___";
const ROUNDED = 0.001; // so much of it a mistake's value may be off, for it was typed by hand
const SHORT = 14; // characters: two such options stand beside each other
// For names of radio groups
let count = 0;

/** An order of 0 … length − 1 that is not the right one, the same for every reader and at every visit.
 * @param {number} length @param {string} seed */
export function shuffled(length, seed) {
  let state = [...seed].reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) >>> 0, 7);
  const order = Array.from({ length }, (_, k) => k);
  for (let k = length - 1; k > 0; k--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (k + 1));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order.every((k, at) => k === at) ? [...order.slice(1), order[0]] : order;
}

const liveRegion = () => el("p", { class: "fa-sr", "aria-live": "polite" });

/** @param {string} text */
const fine = (text) => el("p", { class: "fa-fine", text });

/** A line of code with a menu in each of its gaps, which has the name that the server knows it by.
 * @param {string} words @param {number} index of the line @param {Gap[]} gaps those of all lines */
function gapped(words, index, gaps) {
  const own = gaps
    .map(([line, offered, right], k) => ({ line, offered, right, name: `g${k + 1}` }))
    .filter(({ line }) => line === index);
  const label = (/** @type {number} */ k) =>
    t("gap", { k: k + 1, words: words.replaceAll(GAP, "…") });
  const menus = own.map(({ offered, name }, k) =>
    el("select", { name, "aria-label": label(k) }, [
      el("option", { value: "", text: "…" }),
      ...offered.map((word) => el("option", { value: word, text: word })),
    ]),
  );
  const pieces = words.split(GAP);
  const parts = pieces.flatMap((piece, k) =>
    k < pieces.length - 1 ? [piece, menus[k] ?? GAP] : [piece],
  );
  return {
    code: el("code", {}, parts),
    menus,
    isFilled: () => own.every(({ right }, k) => menus[k].value === right),
  };
}

/** @param {HTMLInputElement[]} inputs @param {() => void} submit */
function submitOnEnter(inputs, submit) {
  for (const input of inputs)
    input.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && !event.repeat && submit(),
    );
}

/** @param {Question} question @param {() => void} submit @returns {Form} */
function choice({ options, answer }, submit) {
  const name = `fa-question-${++count}`;
  const inputs = options.map((_, k) => el("input", { type: "radio", name, value: k }));
  submitOnEnter(inputs, submit);
  const labels = options.map(([text], k) =>
    el("label", { class: "fa-option" }, [inputs[k], el("span", { text })]),
  );
  const isShort = options.every(([text]) => text.length <= SHORT);
  return {
    body: el("div", { class: `fa-options${isShort ? " is-short" : ""}` }, labels),
    check() {
      const chosen = inputs.findIndex((input) => input.checked);
      if (chosen < 0) return { again: t("choose") };
      return { right: chosen === answer, because: options[chosen][1] };
    },
    atOnce: true,
  };
}

/** @param {Question} question @param {() => void} submit @returns {Form} */
function numeric(question, submit) {
  const { words, tolerance = 0, reasons, mistakes = [], fields = [""], unit = "" } = question;
  const wanted = /** @type {number[]} */ ([question.answer].flat());
  const isSeveral = wanted.length > 1;
  const label = (/** @type {string} */ name) => {
    if (name)
      return unit ? t("number.both", { unit, name, words }) : t("number.name", { name, words });
    return unit ? t("number.unit", { unit, words }) : t("number", { words });
  };
  const names = fields.map((text) => el("span", { text }));
  const look = { type: "text", inputmode: "decimal", autocomplete: "off" };
  const inputs = fields.map((name) => el("input", { ...look, "aria-label": label(name) }));
  submitOnEnter(inputs, submit);
  /** Marks which of several boxes is right; none of them once something else is typed.
   * @param {boolean[] | null} are */
  const mark = (are) =>
    inputs.forEach((input, k) => {
      set(names[k], { text: `${fields[k]}${are ? (are[k] ? " ✓" : " ✗") : ""}` });
      set(input, { "aria-invalid": are && !are[k] ? "true" : null });
    });
  /** What is missing, in a sentence. @param {[string, string][]} typed [number, unit] each */
  const missing = (typed) => {
    if (!typed.every(([number]) => readings(number).length))
      return !isSeveral
        ? t("number.type")
        : inputs.length > 2
          ? t("number.fill_all")
          : t("number.fill_both");
    const [, strange] = typed.find(([, behind]) => !isUnitOf(behind, unit, words)) ?? [];
    if (!strange) return "";
    return unit ? t("number.in", { unit, typed: strange }) : t("number.alone", { typed: strange });
  };
  const check = () => {
    const typed = inputs.map((input) => split(input.value));
    const again = missing(typed);
    if (again) return { again };
    const values = typed.map(([number]) => readings(number));
    const are = values.map((found, k) => found.some((one) => meets(one, wanted[k], tolerance)));
    if (isSeveral) mark(are);
    if (are.every(Boolean)) return { right: true, because: reasons[0] };
    /** By how much all of it is off the values of a mistake. @param {number[]} those */
    const distance = (those) =>
      Math.max(
        ...values.map(
          ([{ value }], k) => Math.abs(value - those[k]) - tolerance - Math.abs(those[k]) * ROUNDED,
        ),
      );
    const [made] = mistakes
      .map(([value, text]) => ({ by: distance([value].flat()), text }))
      .filter(({ by }) => by <= 0)
      .sort((a, b) => a.by - b.by);
    if (made) return { right: false, because: made.text };
    if (isSeveral) return { right: false, because: reasons[1] };
    const side = values[0][0].value > wanted[0] ? t("number.large") : t("number.small");
    return { right: false, because: `${side} ${reasons[1]}` };
  };
  const finest = /digits|decimals/.test(words) ? "" : precision(wanted[0], tolerance);
  return {
    body: el("div", { class: "fa-number-answer" }, [
      ...inputs.map((input, k) => (fields[k] ? el("label", {}, [names[k], input]) : input)),
      unit && el("span", { class: "fa-unit", text: unit, "aria-hidden": "true" }),
      finest && el("span", { class: "fa-fine", text: finest }),
    ]),
    check,
    clear: () => mark(null),
  };
}

/** What the server gives for what was filled in or ordered, shown where the reader sees it beside the answer.
 * @param {string} words @param {string} run the widget that computes it */
function runner(words, run) {
  const label = t("gives", { words });
  const blocks = el("div", { class: "fa-blocks fa-given", role: "group", "aria-label": label });
  const live = liveRegion();
  return {
    output: el("div", {}, [live, blocks]),
    /** @param {[string, string][]} values */
    async show(values) {
      /** @type {Answer} */
      const answer = await requestBlocks(run, values).catch(() => ({ error: SILENT }));
      const { blocks: found = [], error = found.length ? "" : SILENT } = answer;
      const refusal = el("p", { class: "fa-block-of fa-text-block is-bad" }, [
        el("span", { class: "fa-sign", "aria-hidden": "true", text: "✗" }),
        el("span", { text: error }),
      ]);
      blocks.replaceChildren(...found.map((block) => draw(block) ?? ""), error ? refusal : "");
      settle(blocks);
      set(live, { text: error || spokenText(found) });
      emit("fa:given", null, blocks);
    },
  };
}

/** A line to be put in its place: a handle (pointer and arrow keys), its text with menus for gaps. */
class Line {
  /** @param {number} index @param {string} words @param {Gap[]} gaps @param {(line: Line, by: number) => void} move */
  constructor(index, words, gaps, move) {
    this.index = index;
    this.words = words;
    const { code, menus, isFilled } = gapped(words, index, gaps);
    this.menus = menus;
    this.isFilled = isFilled;
    const arrow = (
      /** @type {string} */ label,
      /** @type {string} */ sign,
      /** @type {number} */ by,
    ) =>
      button(sign, () => move(this, by), {
        class: "fa-move",
        tabindex: "-1",
        "aria-label": label,
      });
    this.handle = el("button", { type: "button", class: "fa-handle", text: "⠿" });
    this.handle.addEventListener("keydown", (event) => {
      const by = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
      if (!by) return;
      event.preventDefault();
      move(this, by);
    });
    this.mark = el("span", { class: "fa-line-mark" });
    this.reason = el("p", { class: "fa-fine", hidden: true });
    this.root = el("li", {}, [
      this.handle,
      code,
      this.mark,
      arrow(t("line.up", { words }), "▲", -1),
      arrow(t("line.down", { words }), "▼", 1),
      this.reason,
    ]);
  }

  /** Says "✓", or what is wrong in words; null takes the mark away. @param {boolean | null} isPlaced */
  judge(isPlaced) {
    const wrong = isPlaced ? (this.isFilled() ? "" : t("line.gap")) : t("line.not_here");
    set(this.mark, {
      text: isPlaced === null ? "" : wrong || "✓",
      class: `fa-line-mark ${isPlaced && !wrong ? "is-right" : "is-wrong"}`,
    });
  }
}

/** @param {Question} question @returns {Form} */
function order({ key, words, options, gaps = [], run, answer, reasons }) {
  const ran = run ? runner(words, run) : null;
  const live = liveRegion();
  const lines = options.map(([text], k) => new Line(k, text, gaps, move));
  const menus = lines.flatMap((line) => line.menus);
  const now = shuffled(lines.length, key).map((k) => lines[k]);
  const list = el("ol", { class: "fa-lines" });
  function lay() {
    now.forEach((line, k) => {
      if (list.children[k] !== line.root) list.insertBefore(line.root, list.children[k] ?? null);
      const text = line.words.replaceAll(GAP, "…");
      set(line.handle, { "aria-label": t("line", { k: k + 1, n: now.length, words: text }) });
    });
  }
  function clear() {
    for (const line of lines) {
      line.judge(null);
      line.reason.hidden = true;
    }
  }
  /** @param {Line} line @param {number} by */
  function move(line, by) {
    const from = now.indexOf(line);
    const to = clamp(from + by, 0, now.length - 1);
    if (to === from) return;
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    now.splice(to, 0, ...now.splice(from, 1));
    clear();
    lay();
    if (line.root.contains(focused)) focused.focus({ preventScroll: true });
    set(live, { text: t("line.now", { k: to + 1, n: now.length }) });
  }
  for (const line of lines) makeDraggable(line, now, move);
  lay();
  /** @returns {Verdict} */
  const judge = () => {
    // Equal lines may change places, and those of one group of `answer`
    const groups = /** @type {number[][]} */ (answer ?? []);
    const isPlaced = now.map(
      (line, k) =>
        line.words === lines[k].words ||
        groups.some((group) => group.includes(k) && group.includes(line.index)),
    );
    now.forEach((line, k) => line.judge(isPlaced[k]));
    const good = isPlaced.filter(Boolean).length;
    const open = now.filter((line) => !line.isFilled()).length;
    const right = good === now.length && open === 0;
    for (const line of lines) {
      set(line.reason, { text: options[line.index][1] });
      line.reason.hidden = !right || !options[line.index][1];
    }
    if (right) return { right, because: reasons?.[0] || t("lines.right") };
    const placing = { good, n: now.length };
    const because = open
      ? t(good === 1 ? "lines.one_open" : "lines.some_open", { ...placing, open })
      : t(good === 1 ? "lines.one" : "lines.some", placing);
    return { right, because };
  };
  const isFine = window.matchMedia("(pointer: fine)").matches;
  return {
    body: el("div", {}, [fine(isFine ? t("lines.drag") : t("lines.tap")), list, live]),
    check() {
      if (ran && menus.some((menu) => !menu.value)) return { again: t("fill") };
      ran?.show([["order", now.map(({ index }) => index).join(",")], ...chosenOf(menus)]);
      return judge();
    },
    clear,
    ...(ran && { output: ran.output, act: t("run") }),
  };
}

/** @param {HTMLSelectElement[]} menus @returns {[string, string][]} */
const chosenOf = (menus) => menus.map(({ name, value }) => [name, value]);

const EDGE = 60; // px from the edge of what scrolls, its handle included
const PACE = 6; // px per frame

/** The part of the page around a node that scrolls by itself, such as a phone's panel. @param {HTMLElement} node */
function scroller(node) {
  for (let at = node.parentElement; at && at !== document.body; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight + 1 && getComputedStyle(at).overflowY === "auto")
      return at;
  return null;
}

/** The line follows the pointer on its handle: it changes places with all whose middle it has passed.
 * @param {Line} line @param {Line[]} now @param {(line: Line, by: number) => void} move */
function makeDraggable(line, now, move) {
  onDrag(line.handle, ({ pointerId, clientY }) => {
    line.handle.setPointerCapture(pointerId);
    line.root.classList.add("is-dragged");
    const box = scroller(line.root);
    let y = clientY;
    const follow = () => {
      const middle = (/** @type {Line} */ { root }) => {
        const { top, height } = root.getBoundingClientRect();
        return top + height / 2;
      };
      const from = now.indexOf(line);
      let to = from;
      while (to > 0 && y < middle(now[to - 1])) to -= 1;
      while (to < now.length - 1 && y > middle(now[to + 1])) to += 1;
      if (to === from) return;
      move(line, to - from);
      if (line.handle.isConnected && !line.handle.hasPointerCapture(pointerId))
        line.handle.setPointerCapture(pointerId);
    };
    // Near an edge, it brings what is beyond
    let frame = 0;
    const scroll = (/** @type {HTMLElement} */ place) => {
      frame = requestAnimationFrame(() => scroll(place));
      const { top, bottom } = place.getBoundingClientRect();
      const by = y < top + EDGE ? -PACE : y > bottom - EDGE ? PACE : 0;
      if (by) place.scrollTop += by;
      follow();
    };
    if (box) frame = requestAnimationFrame(() => scroll(box));
    return {
      move(event) {
        y = event.clientY;
        follow();
      },
      end() {
        cancelAnimationFrame(frame);
        line.root.classList.remove("is-dragged");
      },
    };
  });
}

/** @param {number} n */
const inWords = (n) => t("counts").split(" ")[n] ?? String(n);

/** A sentence if all that was chosen is right and some is missing, else none.
 * @param {Set<string>} chosen @param {Set<string>} wanted */
function missingCells(chosen, wanted) {
  const more = wanted.size - chosen.size;
  if (more <= 0 || [...chosen].some((at) => !wanted.has(at))) return "";
  const left = { more: inWords(more) };
  if (chosen.size === 1) return t(more === 1 ? "missing.one_one" : "missing.one_some", left);
  return t(more === 1 ? "missing.some_one" : "missing.some_some", {
    chosen: inWords(chosen.size),
    ...left,
  });
}

/** @param {Question} question @returns {Form} */
function click({ words, cells, rows, answer, reasons, notes }) {
  const places = typeof answer[0] === "number" ? [answer] : answer;
  const wanted = new Set(places.map((/** @type {number[]} */ at) => at.join()));
  /** @type {Set<string>} */
  const chosen = new Set();
  const texts = cells.flat();
  const isHeaded = texts.every((text) => /^−?[\d.]+$/.test(text)); // numbers alone do not say where they stand
  const head = Number(isHeaded);
  const columns = Math.max(...cells.map((row) => row.length));
  const heading = (/** @type {string | number} */ text, /** @type {string} */ place) =>
    el("span", { class: "fa-fine", "aria-hidden": "true", text, style: `grid-area:${place}` });
  const heads = isHeaded
    ? [
        ...cells[0].map((_, j) => heading(j, `1/${j + 2}`)),
        ...cells.map((_, i) => heading(rows?.[i] ?? i, `${i + 2}/1`)),
      ]
    : [];
  const isAlone = (/** @type {string} */ text) =>
    texts.filter((other) => other === text).length === 1; // a name of its own says all
  const buttons = cells.flatMap((row, i) =>
    row.map((text, j) => {
      const place = { what: text || t("cell.empty"), row: rows?.[i] ?? i, column: j };
      const press = () => {
        if (!chosen.delete(`${i},${j}`)) chosen.add(`${i},${j}`);
        set(node, { "aria-pressed": chosen.has(`${i},${j}`) });
      };
      const node = button(text, press, {
        "data-at": `${i},${j}`,
        "aria-pressed": "false",
        tabindex: i || j ? "-1" : "0",
        style: `grid-area:${i + head + 1}/${j + head + 1}`,
        "aria-label": text && !isHeaded && isAlone(text) ? text : t("cell", place),
      });
      node.addEventListener("keydown", (event) => step(event, i, j));
      return node;
    }),
  );
  const nodeAt = (/** @type {string} */ at) => buttons.find((node) => node.dataset.at === at);
  /** @param {KeyboardEvent} event @param {number} i @param {number} j */
  function step(event, i, j) {
    const by = ARROWS[event.key];
    if (!by) return;
    event.preventDefault(); // at an edge too: in presentation mode the arrows turn the card
    const next = by[0]
      ? nodeAt(`${i + by[0]},${j}`)
      : buttons[buttons.findIndex((node) => node === event.currentTarget) + by[1]]; // on into the next row
    if (!next) return;
    for (const node of buttons) node.tabIndex = node === next ? 0 : -1;
    next.focus();
  }
  const grid = el(
    "div",
    {
      class: `fa-click-grid${isHeaded ? " is-headed" : ""}`,
      role: "group",
      "aria-label": words,
      style: `--columns:${columns}`,
    },
    [...heads, ...buttons],
  );
  const check = () => {
    if (!chosen.size) return { again: t("cell.first") };
    for (const node of buttons) set(node, { class: null });
    for (const at of chosen)
      set(/** @type {Element} */ (nodeAt(at)), { class: wanted.has(at) ? "is-right" : "is-wrong" });
    const wrong = [...chosen, ...wanted].find((at) => chosen.has(at) !== wanted.has(at));
    if (wrong === undefined) return { right: true, because: reasons[0] };
    const [i, j] = wrong.split(",").map(Number);
    const note = missingCells(chosen, wanted) || notes?.[i]?.[j];
    return { right: false, because: note ? `${note} ${reasons[1]}`.trim() : reasons[1] };
  };
  return {
    body: el("div", {}, [
      fine(t("cell.all")),
      el("div", { class: "fa-scroll", "data-name": words }, [grid]),
    ]),
    check,
    clear() {
      for (const node of buttons) set(node, { class: null });
    },
  };
}

/** Lines whose gaps are filled and which are then run by the server. @param {Question} question @returns {Form} */
function fill({ words, options, gaps, reasons, run = "" }) {
  const lines = options.map(([text], k) => gapped(text, k, gaps));
  const menus = lines.flatMap((line) => line.menus);
  const { output, show } = runner(words, run);
  return {
    body: el(
      "ol",
      { class: "fa-lines is-fixed" },
      lines.map((line) => el("li", {}, [line.code])),
    ),
    check() {
      if (menus.some((menu) => !menu.value)) return { again: t("fill") };
      show(chosenOf(menus));
      const right = lines.every((line) => line.isFilled());
      return { right, because: reasons[right ? 0 : 1] };
    },
    output,
    act: t("run"),
  };
}

export const KINDS = { choice, number: numeric, order, click, fill };
