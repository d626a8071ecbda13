// The forms of questions: a choice, numbers, cells of a grid, lines of code. Each makes a Form (types.js) of its question.

import { button, el, set } from "../lib/dom.js";
import { onDrag } from "../lib/drag.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { ARROWS } from "../lib/keys.js";
import { draw } from "./blocks.js";
import { isUnitOf, madeMistake, meets, precision, readings, split } from "./numbers.js";
import { t } from "./texts.js";
import { requestBlocks, settle, SILENT, spokenText } from "./widget.js";

/** @import { Answer, Form, Gap, Question, Verdict } from "./types.js" */

const GAP = "___";
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
  const chosen = () => inputs.findIndex((input) => input.checked);
  return {
    body: el("div", { class: `fa-options${isShort ? " is-short" : ""}` }, labels),
    read: () => inputs.filter(({ checked }) => checked).map(({ value }) => value),
    write([value]) {
      if (value) inputs[Number(value)].checked = true;
    },
    text: () => options[chosen()]?.[0] ?? "",
    check() {
      if (chosen() < 0) return { again: t("choose") };
      return { right: chosen() === answer, because: options[chosen()][1] };
    },
    atOnce: true,
  };
}

/** @param {Question} question @param {() => void} submit @returns {Form} */
function numeric(question, submit) {
  const { words, tolerance = 0, reasons, mistakes = [], fields = [""], unit = "" } = question;
  const wanted = /** @type {number[]} */ ([question.answer].flat());
  const isSeveral = wanted.length > 1;
  const label = (/** @type {string} */ name) =>
    [t("number"), unit && t("number.unit", { unit }), name, words].filter(Boolean).join(", ");
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
      return t(isSeveral ? "number.fill" : "number.type");
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
    const made = madeMistake(values, mistakes);
    if (made || isSeveral) return { right: false, because: made || reasons[1] };
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
    read: () => inputs.map(({ value }) => value),
    write: (values) => inputs.forEach((input, k) => (input.value = values[k] ?? "")),
    text: () => inputs.map(({ value }, k) => [fields[k], value].join(" ").trim()).join("; "),
    check,
    clear: () => mark(null),
  };
}

/** @param {Question} question @returns {Form} */
function click({ words, cells, rows, answer, reasons, notes }) {
  const places = typeof answer[0] === "number" ? [answer] : answer;
  const wanted = new Set(places.map((/** @type {number[]} */ at) => at.join()));
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
  const nameOf = (/** @type {number} */ i, /** @type {number} */ j) => {
    const text = cells[i][j];
    const place = { what: text || t("cell.empty"), row: rows?.[i] ?? i, column: j };
    return text && !isHeaded && isAlone(text) ? text : t("cell", place);
  };
  const press = (/** @type {HTMLElement} */ node) =>
    set(node, { "aria-pressed": node.ariaPressed !== "true" });
  const buttons = cells.flatMap((row, i) =>
    row.map((text, j) => {
      const node = button(text, () => press(node), {
        "data-at": `${i},${j}`,
        "aria-pressed": "false",
        tabindex: i || j ? "-1" : "0",
        style: `grid-area:${i + head + 1}/${j + head + 1}`,
        "aria-label": nameOf(i, j),
      });
      node.addEventListener("keydown", (event) => step(event, i, j));
      return node;
    }),
  );
  const atOf = (/** @type {HTMLElement} */ node) => node.dataset.at ?? "";
  const chosen = () => buttons.filter((node) => node.ariaPressed === "true").map(atOf);
  const nodeAt = (/** @type {string} */ at) => buttons.find((node) => atOf(node) === at);
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
  const clear = () => buttons.forEach((node) => set(node, { class: null }));
  const check = () => {
    const those = chosen();
    if (!those.length) return { again: t("cell.first") };
    clear();
    for (const at of those)
      set(/** @type {Element} */ (nodeAt(at)), { class: wanted.has(at) ? "is-right" : "is-wrong" });
    const strange = those.find((at) => !wanted.has(at));
    const left = [...wanted].filter((at) => !those.includes(at));
    if (!strange && !left.length) return { right: true, because: reasons[0] };
    const [i, j] = (strange ?? "").split(",").map(Number);
    const note = strange ? notes?.[i]?.[j] : t("cell.left", { left: left.length });
    return { right: false, because: `${note ?? ""} ${reasons[1]}`.trim() };
  };
  return {
    body: el("div", {}, [
      fine(t("cell.all")),
      el("div", { class: "fa-scroll", "data-name": words }, [grid]),
    ]),
    read: chosen,
    write: (values) => values.forEach((at) => press(/** @type {HTMLElement} */ (nodeAt(at)))),
    text: () =>
      chosen()
        .map((at) => at.split(",").map(Number))
        .map(([i, j]) => nameOf(i, j))
        .join("; "),
    check,
    clear,
  };
}

/** What the server gives for lines of code, shown where the reader sees it beside the answer.
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
      blocks.replaceChildren(...found.map((block) => draw(block)), error ? refusal : "");
      settle(blocks);
      set(live, { text: error || spokenText(found) });
      emit("fa:given", null, blocks);
    },
  };
}

/** A line of code with a menu in each of its gaps, which has the name that the server knows it by.
 * @param {string} words @param {number} index of the line @param {Gap[]} gaps those of all lines */
function gapped(words, index, gaps) {
  const own = gaps
    .map(([line, offered, right], k) => ({ line, offered, right, name: `g${k + 1}` }))
    .filter(({ line }) => line === index);
  const label = t("gap", { words: words.replaceAll(GAP, "…") });
  const menus = own.map(({ offered, name }) =>
    el("select", { name, "aria-label": label }, [
      el("option", { value: "", text: "…" }),
      ...offered.map((word) => el("option", { value: word, text: word })),
    ]),
  );
  const pieces = words
    .split(GAP)
    .flatMap((piece, k) => (k < menus.length ? [piece, menus[k]] : [piece]));
  return {
    index,
    words,
    menus,
    code: el("code", {}, pieces),
    isFilled: () => own.every(({ right }, k) => menus[k].value === right),
    text: () => menus.reduce((line, { value }) => line.replace(GAP, value || "…"), words),
  };
}

/** A line in its place, or one to be put there: with a handle (pointer and arrow keys) and a mark.
 * @typedef {ReturnType<typeof gapped> & {root: HTMLElement, handle?: HTMLElement, mark?: HTMLElement, reason?: HTMLElement}} Line */

/** @param {Line} line @param {(by: number) => void} move */
function addHandle(line, move) {
  const { words, code, root } = line;
  const arrow = (/** @type {string} */ label, /** @type {string} */ sign, by = 1) =>
    button(sign, () => move(by), { class: "fa-move", tabindex: "-1", "aria-label": label });
  line.handle = el("button", { type: "button", class: "fa-handle", text: "⠿" });
  line.mark = el("span", { class: "fa-line-mark" });
  line.reason = el("p", { class: "fa-fine", hidden: true });
  root.replaceChildren(
    ...[line.handle, code, line.mark],
    arrow(t("line.up", { words }), "▲", -1),
    arrow(t("line.down", { words }), "▼"),
    line.reason,
  );
  line.handle.addEventListener("keydown", (event) => {
    const by = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  // It changes places with each line whose middle the pointer has passed, and brings the one behind into sight
  onDrag(line.handle, ({ pointerId, clientY }) => {
    line.handle?.setPointerCapture(pointerId);
    root.classList.add("is-dragged");
    const middle = (/** @type {Element | null} */ node) => {
      const { top = NaN, height = 0 } = node?.getBoundingClientRect() ?? {};
      return top + height / 2;
    };
    let y = clientY;
    let frame = 0;
    const follow = () => {
      const { previousElementSibling: above, nextElementSibling: below } = root;
      const by = Number(y > middle(below)) - Number(y < middle(above));
      if (by) {
        move(by);
        const behind = by > 0 ? root.nextElementSibling : root.previousElementSibling;
        (behind ?? root).scrollIntoView({ block: "nearest" });
        if (!line.handle?.hasPointerCapture(pointerId)) line.handle?.setPointerCapture(pointerId);
      }
      frame = requestAnimationFrame(follow);
    };
    follow();
    return {
      move: (event) => (y = event.clientY),
      end() {
        cancelAnimationFrame(frame);
        root.classList.remove("is-dragged");
      },
    };
  });
}

/** Lines of code whose gaps are filled, in their places or (order) to be put there, and which the server runs.
 * @param {Question} question @returns {Form} */
function lines({ kind, key, words, options, gaps = [], run, answer, reasons }) {
  const isFixed = kind === "fill";
  const ran = run ? runner(words, run) : null;
  const live = liveRegion();
  /** @type {Line[]} */
  const own = options.map(([text], k) => {
    const line = gapped(text, k, gaps);
    return { ...line, root: el("li", {}, [line.code]) };
  });
  const menus = own.flatMap((line) => line.menus);
  let now = isFixed ? own : shuffled(own.length, key).map((k) => own[k]);
  const list = el("ol", { class: `fa-lines${isFixed ? " is-fixed" : ""}` });
  const lay = () =>
    now.forEach((line, k) => {
      if (list.children[k] !== line.root) list.insertBefore(line.root, list.children[k] ?? null);
      const text = line.words.replaceAll(GAP, "…");
      if (line.handle)
        set(line.handle, { "aria-label": t("line", { k: k + 1, n: now.length, words: text }) });
    });
  const clear = () => {
    for (const { mark, reason } of own) {
      if (mark) set(mark, { text: "" });
      if (reason) reason.hidden = true;
    }
  };
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
  if (!isFixed) for (const line of own) addHandle(line, (by) => move(line, by));
  lay();
  // Equal lines may change places, and those of one group of `answer`
  const groups = /** @type {number[][]} */ (answer ?? []);
  const isPlaced = (/** @type {Line} */ line, /** @type {number} */ k) =>
    line.words === own[k].words ||
    groups.some((group) => group.includes(k) && group.includes(line.index));
  /** @returns {Verdict} */
  const judge = () => {
    const good = now.filter(isPlaced).length;
    const open = now.filter((line) => !line.isFilled()).length;
    const right = good === now.length && !open;
    now.forEach((line, k) => {
      const wrong = isPlaced(line, k) ? (line.isFilled() ? "" : t("line.gap")) : t("line.not_here");
      const why = options[line.index][1];
      if (line.mark)
        set(line.mark, {
          text: wrong || "✓",
          class: `fa-line-mark ${wrong ? "is-wrong" : "is-right"}`,
        });
      if (line.reason) set(line.reason, { text: why });
      if (line.reason) line.reason.hidden = !right || !why;
    });
    if (right) return { right, because: reasons?.[0] || t("lines.right") };
    const placing = { good, n: now.length };
    const said = open ? t("lines.open", { ...placing, open }) : t("lines.some", placing);
    return { right, because: reasons?.[1] || said };
  };
  const isFine = window.matchMedia("(pointer: fine)").matches;
  const order = () => now.map(({ index }) => index).join(",");
  return {
    body: el("div", {}, [
      isFixed ? null : fine(t(isFine ? "lines.drag" : "lines.tap")),
      list,
      live,
    ]),
    read: () => [order(), ...menus.map(({ value }) => value)],
    write([places, ...values]) {
      if (!isFixed) now = places.split(",").map((k) => own[Number(k)]);
      menus.forEach((menu, k) => (menu.value = values[k] ?? ""));
      lay();
    },
    text: () => now.map((line) => line.text()).join("\n"),
    check() {
      if (ran && menus.some((menu) => !menu.value)) return { again: t("fill") };
      const filled = menus.map(
        ({ name, value }) => /** @type {[string, string]} */ ([name, value]),
      );
      ran?.show(isFixed ? filled : [["order", order()], ...filled]);
      return judge();
    },
    clear,
    ...(ran && { output: ran.output, act: t("run") }),
  };
}

export const KINDS = { choice, number: numeric, order: lines, click, fill: lines };
