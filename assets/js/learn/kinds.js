// The forms of questions: a choice, numbers, cells of a grid, lines of code. Each makes a Form (types.js) of its question.

import { all, el, find, get, giveFocus, set, setText } from "../lib/dom.js";
import { onDrag } from "../lib/drag.js";
import { emit } from "../lib/events.js";
import { clamp } from "../lib/format.js";
import { ARROWS } from "../lib/keys.js";
import { draw } from "./blocks.js";
import { nameGroup } from "./controls.js";
import { isUnitOf, madeMistake, meets, precision, readings, split } from "./numbers.js";
import { t } from "./texts.js";
import { requestBlocks, settle, SILENT, spokenText } from "./widget.js";

/** @import { Answer, Form, Question, Verdict } from "./types.js" */

const GAP = "___";

/** @param {HTMLElement} body */
const inputsOf = (body) => /** @type {HTMLInputElement[]} */ (all(body, "input"));

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

/** @param {HTMLElement} body @param {() => void} submit */
const submitOnEnter = (body, submit) =>
  body.addEventListener("keydown", ({ key, repeat }) => key === "Enter" && !repeat && submit());

/** @param {Question} question @param {HTMLElement} body @param {() => void} submit @returns {Form} */
function choice({ options, answer }, body, submit) {
  const inputs = inputsOf(body);
  nameGroup(inputs);
  submitOnEnter(body, submit);
  const chosen = () => inputs.findIndex((input) => input.checked);
  return {
    body,
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

/** @param {Question} question @param {HTMLElement} body @param {() => void} submit @returns {Form} */
function numeric(question, body, submit) {
  const { words, tolerance = 0, reasons, mistakes = [], fields = [""], unit = "" } = question;
  const wanted = /** @type {number[]} */ ([question.answer].flat());
  const isSeveral = wanted.length > 1;
  const inputs = inputsOf(body);
  submitOnEnter(body, submit);
  /** Marks which of several boxes is right; none of them once something else is typed.
   * @param {boolean[] | null} are */
  const mark = (are) =>
    inputs.forEach((input, k) => {
      const name = input.previousElementSibling;
      if (name) setText(name, `${fields[k]}${are ? (are[k] ? " ✓" : " ✗") : ""}`);
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
    const side = t(values[0][0].value > wanted[0] ? "number.large" : "number.small");
    return { right: false, because: `${side} ${reasons[1]}` };
  };
  const finest = /digits|decimals/.test(words) ? "" : precision(wanted[0], tolerance);
  if (finest) body.append(el("span.fa-fine", finest));
  return {
    body,
    read: () => inputs.map(({ value }) => value),
    write: (values) => inputs.forEach((input, k) => (input.value = values[k] ?? "")),
    text: () => inputs.map(({ value }, k) => [fields[k], value].join(" ").trim()).join("; "),
    check,
    clear: () => mark(null),
  };
}

/** @param {Question} question @param {HTMLElement} body @returns {Form} */
function click({ answer, reasons, notes }, body) {
  const places = typeof answer[0] === "number" ? [answer] : answer;
  const wanted = new Set(places.map((/** @type {number[]} */ at) => at.join()));
  const press = (/** @type {HTMLElement} */ node) =>
    set(node, { "aria-pressed": node.ariaPressed !== "true" });
  const buttons = all(body, "button");
  for (const node of buttons) {
    node.addEventListener("click", () => press(node));
    node.addEventListener("keydown", (event) => step(event, node));
  }
  const atOf = (/** @type {HTMLElement} */ node) => node.dataset.at ?? "";
  const chosen = () => buttons.filter((node) => node.ariaPressed === "true").map(atOf);
  const nodeAt = (/** @type {string} */ at) => buttons.find((node) => atOf(node) === at);
  /** @param {KeyboardEvent} event @param {HTMLElement} node */
  function step(event, node) {
    const [i, j] = atOf(node).split(",").map(Number);
    const by = ARROWS[event.key];
    if (!by) return;
    event.preventDefault(); // at an edge too: in presentation mode the arrows turn the card
    const next = by[0] ? nodeAt(`${i + by[0]},${j}`) : buttons[buttons.indexOf(node) + by[1]]; // on into the next row
    if (!next) return;
    for (const one of buttons) one.tabIndex = one === next ? 0 : -1;
    next.focus();
  }
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
    body,
    read: chosen,
    write: (values) => values.forEach((at) => press(/** @type {HTMLElement} */ (nodeAt(at)))),
    text: () =>
      chosen()
        .map((at) => nodeAt(at)?.ariaLabel)
        .join("; "),
    check,
    clear,
  };
}

/** What the server gives for lines of code, shown where the reader sees it beside the answer.
 * @param {string} words @param {string} run the widget that computes it */
function runner(words, run) {
  const label = t("gives", { words });
  const blocks = el("div.fa-blocks.fa-given", { role: "group", "aria-label": label });
  const live = el("p.fa-sr", { "aria-live": "polite" });
  return {
    output: el("div", [live, blocks]),
    /** @param {[string, string][]} values */
    async show(values) {
      /** @type {Answer} */
      const answer = await requestBlocks(run, values).catch(() => ({ error: SILENT }));
      const { blocks: found = [], error = found.length ? "" : SILENT } = answer;
      const refusal = el("p.fa-block-of.fa-text-block.is-bad", [
        el("span.fa-sign", { "aria-hidden": "true", text: "✗" }),
        el("span", error),
      ]);
      blocks.replaceChildren(...found.map((block) => draw(block)), error ? refusal : "");
      settle(blocks);
      setText(live, error || spokenText(found));
      emit("fa:given", null, blocks);
    },
  };
}

/** A line of code with a menu in each of its gaps; one to be put in its place has a handle (pointer and arrow keys) and a mark.
 * @param {HTMLElement} root @param {number} index @param {Question} question */
function gapped(root, index, { options, gaps = [] }) {
  const [words] = options[index];
  const rights = gaps.filter(([line]) => line === index).map(([, , right]) => right);
  /** @type {HTMLSelectElement[]} */
  const menus = all(root, "select");
  return {
    root,
    index,
    words,
    menus,
    handle: find(root, ".fa-handle"),
    mark: find(root, ".fa-line-mark"),
    reason: find(root, ".fa-fine"),
    isFilled: () => menus.every(({ value }, k) => value === rights[k]),
    text: () => menus.reduce((line, { value }) => line.replace(GAP, value || "…"), words),
  };
}

/** @typedef {ReturnType<typeof gapped>} Line */

/** @param {Line} line @param {(by: number) => void} move */
function addHandle({ root, handle }, move) {
  if (!handle) return;
  const [up, down] = all(root, ".fa-move");
  up.onclick = () => move(-1);
  down.onclick = () => move(1);
  handle.addEventListener("keydown", (event) => {
    const by = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  // It changes places with each line whose middle the pointer has passed, and brings the one behind into sight
  onDrag(handle, ({ pointerId, clientY }) => {
    handle.setPointerCapture(pointerId);
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
        if (!handle.hasPointerCapture(pointerId)) handle.setPointerCapture(pointerId);
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
 * @param {Question} question @param {HTMLElement} body @returns {Form} */
function lines(question, body) {
  const { kind, key, words, options, run, answer, reasons } = question;
  const isFixed = kind === "fill";
  const ran = run ? runner(words, run) : null;
  const live = get(body, "[aria-live]");
  const list = get(body, "ol");
  const own = all(list, "li").map((root, k) => gapped(root, k, question));
  const menus = own.flatMap((line) => line.menus);
  let now = isFixed ? own : shuffled(own.length, key).map((k) => own[k]);
  const lay = () =>
    now.forEach((line, k) => {
      if (list.children[k] !== line.root) list.insertBefore(line.root, list.children[k] ?? null);
      const text = line.words.replaceAll(GAP, "…");
      if (line.handle)
        set(line.handle, { "aria-label": t("line", { k: k + 1, n: now.length, words: text }) });
    });
  const clear = () => {
    for (const { mark, reason } of own) {
      if (mark) setText(mark, "");
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
    if (line.root.contains(focused)) giveFocus(focused);
    setText(live, t("line.now", { k: to + 1, n: now.length }));
  }
  for (const line of own) addHandle(line, (by) => move(line, by));
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
      if (line.mark)
        set(line.mark, {
          text: wrong || "✓",
          class: `fa-line-mark ${wrong ? "is-wrong" : "is-right"}`,
        });
      if (line.reason) line.reason.hidden = !right || !options[line.index][1];
    });
    if (right) return { right, because: reasons?.[0] || t("lines.right") };
    const placing = { good, n: now.length };
    const general = open ? t("lines.open", { ...placing, open }) : t("lines.some", placing);
    return { right, because: reasons?.[1] || general };
  };
  const isFine = window.matchMedia("(pointer: fine)").matches;
  const hint = find(body, ":scope > .fa-fine");
  if (hint) setText(hint, t(isFine ? "lines.drag" : "lines.tap"));
  const order = () => now.map(({ index }) => index).join(",");
  return {
    body,
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
