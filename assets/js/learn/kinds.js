// The five kinds of questions: each a function of its question to {body, check()}; check gives {right, because}, or
// {again: what is missing}. `clear` takes away what a verdict marked; `act` is what its button says, `given` where what it runs is shown.

import { el, set } from "../lib/dom.js";
import { emit } from "../lib/events.js";
import { draw } from "./blocks.js";
import { fits, meets, precision, readings, split } from "./numbers.js";
import { requestBlocks, settle, SILENT, spokenText } from "./widget.js";
import { t } from "./texts.js";

const GAP = "___";
const ROUNDED = 0.001; // so much of it a mistake's value may be off, for it was typed by hand
const SHORT = 14; // characters: two such options stand beside each other
// For names of radio groups
let count = 0;

/** A fixed order that is not the right one: the same for every reader and at every visit. */
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

/** A line of code with a menu in each of its gaps: {code, menus, filled()}. */
function gapped(words, gaps) {
  const menus = gaps.map(([, offered], k) =>
    el("select", { "aria-label": t("gap", { k: k + 1, words: words.replaceAll(GAP, "…") }) }, [
      el("option", { value: "", text: "…" }),
      ...offered.map((word) => el("option", { value: word, text: word })),
    ]),
  );
  const pieces = words.split(GAP);
  const code = el(
    "code",
    {},
    pieces.flatMap((piece, k) => [
      document.createTextNode(piece),
      k < pieces.length - 1 ? (menus[k] ?? document.createTextNode(GAP)) : null,
    ]),
  );
  return { code, menus, filled: () => gaps.every(([, , right], k) => menus[k].value === right) };
}

function choice({ options, answer }, submit) {
  const name = `fa-question-${++count}`;
  const inputs = options.map((_, k) => el("input", { type: "radio", name, value: k }));
  for (const input of inputs)
    input.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && !event.repeat && submit(),
    );
  const labels = options.map(([words], k) =>
    el("label", { class: "fa-option" }, [inputs[k], el("span", { text: words })]),
  );
  const check = () => {
    const chosen = inputs.findIndex((input) => input.checked);
    if (chosen < 0) return { again: t("choose") };
    return { right: chosen === answer, because: options[chosen][1] };
  };
  const short = options.every(([words]) => words.length <= SHORT);
  return {
    body: el("div", { class: `fa-options${short ? " is-short" : ""}` }, labels),
    check,
    atOnce: true,
  };
}

function numeric(
  { words, answer, tolerance = 0, reasons, mistakes = [], fields = [""], unit = "" },
  submit,
) {
  const wanted = [answer].flat();
  const several = wanted.length > 1;
  const names = fields.map((name) => el("span", { text: name }));
  const named = (name) => {
    if (name)
      return unit ? t("number.both", { unit, name, words }) : t("number.name", { name, words });
    return unit ? t("number.unit", { unit, words }) : t("number", { words });
  };
  const inputs = fields.map((name) =>
    el("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-label": named(name),
    }),
  );
  for (const input of inputs)
    input.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && !event.repeat && submit(),
    );
  /** Which of several boxes is right; none of them once something else is typed. */
  const mark = (are) =>
    inputs.forEach((input, k) => {
      set(names[k], { text: `${fields[k]}${are ? (are[k] ? " ✓" : " ✗") : ""}` });
      set(input, { "aria-invalid": are && !are[k] ? "true" : null });
    });
  const check = () => {
    const typed = inputs.map((input) => split(input.value));
    const values = typed.map(([number]) => readings(number));
    if (several && values.some((found) => !found.length))
      return { again: inputs.length > 2 ? t("number.fill_all") : t("number.fill_both") };
    if (values.some((found) => !found.length)) return { again: t("number.type") };
    const strange = typed.find(([, behind]) => !fits(behind, unit, words));
    if (strange)
      return {
        again: unit
          ? t("number.in", { unit, typed: strange[1] })
          : t("number.alone", { typed: strange[1] }),
      };
    const are = values.map((found, k) => found.some((one) => meets(one, wanted[k], tolerance)));
    if (several) mark(are);
    if (are.every(Boolean)) return { right: true, because: reasons[0] };
    const [first] = values[0];
    const off = (those) =>
      Math.max(
        ...values.map(
          ([{ value }], k) => Math.abs(value - those[k]) - tolerance - Math.abs(those[k]) * ROUNDED,
        ),
      );
    const [made] = mistakes
      .map(([value, said]) => [off([value].flat()), said])
      .filter(([by]) => by <= 0)
      .sort(([a], [b]) => a - b);
    const side = several
      ? ""
      : first.value > wanted[0]
        ? `${t("number.large")} `
        : `${t("number.small")} `;
    return { right: false, because: made ? made[1] : side + reasons[1] };
  };
  const boxes = inputs.map((input, k) => (fields[k] ? el("label", {}, [names[k], input]) : input));
  const finest = /digits|decimals/.test(words) ? "" : precision(wanted[0], tolerance);
  const said = [
    unit && el("span", { class: "fa-unit", text: unit, "aria-hidden": "true" }),
    finest && el("span", { class: "fa-fine", text: finest }),
  ];
  return {
    body: el("div", { class: "fa-number-answer" }, [...boxes, ...said]),
    check,
    clear: () => mark(null),
  };
}

/** What the server gives for what was filled in or ordered: shown where the reader sees it beside the answer. */
function runner(words, run) {
  const given = el("div", {
    class: "fa-blocks fa-given",
    role: "group",
    "aria-label": t("gives", { words }),
  });
  const live = el("p", { class: "fa-sr", "aria-live": "polite" });
  const show = async (values) => {
    const found = await requestBlocks(run, values).catch(() => ({ error: SILENT }));
    given.replaceChildren(
      ...(found.blocks ?? [{ type: "text", kind: "bad", words: found.error }]).map((block) =>
        draw(block),
      ),
    );
    settle(given);
    set(live, { text: found.error ?? spokenText(found.blocks) });
    emit("fa:given", null, given);
  };
  return { given: el("div", {}, [live, given]), show };
}

/** A line to be put in its place: a handle (pointer and arrow keys), its text with menus for gaps. */
class Line {
  constructor(index, words, gaps, move) {
    Object.assign(this, { index, words });
    const { code, menus, filled } = gapped(words, gaps);
    Object.assign(this, { menus, filled });
    const button = (label, sign, by) => {
      const node = el("button", {
        type: "button",
        class: "fa-move",
        tabindex: "-1",
        "aria-label": label,
        text: sign,
      });
      node.addEventListener("click", () => move(this, by));
      return node;
    };
    this.handle = el("button", { type: "button", class: "fa-handle", text: "⠿" });
    this.handle.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
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
      button(t("line.up", { words }), "▲", -1),
      button(t("line.down", { words }), "▼", 1),
      this.reason,
    ]);
  }

  /** "✓", or what is wrong in words; null takes the mark away. */
  judge(placed) {
    const words =
      placed === null ? "" : !placed ? t("line.not_here") : this.filled() ? "✓" : t("line.gap");
    set(this.mark, {
      text: words,
      class: `fa-line-mark ${words === "✓" ? "is-right" : "is-wrong"}`,
    });
  }
}

function order({ key, words, options, gaps = [], run, answer, reasons }) {
  const ran = run ? runner(words, run) : null;
  const chosen = () =>
    gaps.map(([at], k) => [
      `g${k + 1}`,
      lines[at].menus[gaps.filter(([other], n) => other === at && n < k).length].value,
    ]);
  const live = el("p", { class: "fa-sr", "aria-live": "polite" });
  const lines = options.map(
    ([words], k) =>
      new Line(
        k,
        words,
        gaps.filter(([at]) => at === k),
        move,
      ),
  );
  const now = shuffled(lines.length, key).map((k) => lines[k]);
  const list = el("ol", { class: "fa-lines" });
  function lay() {
    now.forEach((line, k) => {
      if (list.children[k] !== line.root) list.insertBefore(line.root, list.children[k] ?? null);
      set(line.handle, {
        "aria-label": t("line", {
          k: k + 1,
          n: now.length,
          words: line.words.replaceAll(GAP, "…"),
        }),
      });
    });
  }
  function clear() {
    for (const line of lines) {
      line.judge(null);
      line.reason.hidden = true;
    }
  }
  function move(line, by) {
    const from = now.indexOf(line);
    const to = Math.max(0, Math.min(now.length - 1, from + by));
    if (to === from) return;
    const focused = document.activeElement;
    now.splice(to, 0, ...now.splice(from, 1));
    clear();
    lay();
    if (line.root.contains(focused)) focused.focus({ preventScroll: true });
    set(live, { text: t("line.now", { k: to + 1, n: now.length }) });
  }
  for (const line of lines) drag(line, now, move);
  lay();
  const check = () => {
    if (ran && chosen().some(([, value]) => !value)) return { again: t("fill") };
    ran?.show([["order", now.map(({ index }) => index).join(",")], ...chosen()]);
    // Equal lines may change places, and those of one group of `answer`
    const same = (line, k) =>
      line.words === lines[k].words ||
      (answer ?? []).some((group) => group.includes(k) && group.includes(line.index));
    const placed = now.map(same);
    now.forEach((line, k) => line.judge(placed[k]));
    const good = placed.filter(Boolean).length;
    const open = now.filter((line) => !line.filled()).length;
    const right = good === now.length && open === 0;
    for (const line of lines) {
      set(line.reason, { text: options[line.index][1] });
      line.reason.hidden = !right || !options[line.index][1];
    }
    if (right) return { right, because: reasons?.[0] || t("lines.right") };
    const placing = { good, n: now.length };
    if (open)
      return {
        right,
        because: t(good === 1 ? "lines.one_open" : "lines.some_open", { ...placing, open }),
      };
    return { right, because: t(good === 1 ? "lines.one" : "lines.some", placing) };
  };
  const how = window.matchMedia("(pointer: fine)").matches ? t("lines.drag") : t("lines.tap");
  const hint = el("p", { class: "fa-fine", text: how });
  return {
    body: el("div", {}, [hint, list, live]),
    check,
    clear,
    ...(ran && { given: ran.given, act: t("run") }),
  };
}

const EDGE = 60; // px from the edge of what scrolls, its handle included
const PACE = 6; // px per frame

/** The part of the page around a node that scrolls by itself, such as a phone's sheet. */
function scroller(node) {
  for (let at = node.parentElement; at && at !== document.body; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight + 1 && getComputedStyle(at).overflowY === "auto")
      return at;
  return null;
}

/** The handle follows the pointer: the line changes places with all whose middle it has passed. */
function drag(line, now, move) {
  line.handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    line.handle.setPointerCapture(event.pointerId);
    line.root.classList.add("is-dragged");
    const box = scroller(line.root);
    let y = event.clientY;
    const over = ({ clientY }) => {
      y = clientY;
      const middle = ({ root }) => {
        const { top, height } = root.getBoundingClientRect();
        return top + height / 2;
      };
      const from = now.indexOf(line);
      let to = from;
      while (to > 0 && clientY < middle(now[to - 1])) to -= 1;
      while (to < now.length - 1 && clientY > middle(now[to + 1])) to += 1;
      if (to === from) return;
      move(line, to - from);
      if (line.handle.isConnected && !line.handle.hasPointerCapture(event.pointerId))
        line.handle.setPointerCapture(event.pointerId);
    };
    // Held near an edge, it brings what is beyond
    const scroll = () => {
      frame = requestAnimationFrame(scroll);
      const { top, bottom } = box.getBoundingClientRect();
      const by = y < top + EDGE ? -PACE : y > bottom - EDGE ? PACE : 0;
      if (by) box.scrollTop += by;
      over({ clientY: y });
    };
    let frame = box && requestAnimationFrame(scroll);
    const done = () => {
      cancelAnimationFrame(frame);
      line.root.classList.remove("is-dragged");
      document.removeEventListener("pointermove", over);
      for (const name of ["pointerup", "pointercancel"]) document.removeEventListener(name, done);
    };
    document.addEventListener("pointermove", over);
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, done);
  });
}

const counted = (n) => t("counts").split(" ")[n] ?? String(n);

/** A sentence if all that was chosen is right and some is missing, else none. */
function missing(chosen, wanted) {
  const more = wanted.size - chosen.size;
  if (more <= 0 || [...chosen].some((at) => !wanted.has(at))) return "";
  const left = { more: counted(more) };
  if (chosen.size === 1) return t(more === 1 ? "missing.one_one" : "missing.one_some", left);
  return t(more === 1 ? "missing.some_one" : "missing.some_some", {
    chosen: counted(chosen.size),
    ...left,
  });
}

function click({ words, cells, rows, answer, reasons, notes }) {
  const wanted = new Set(
    (typeof answer[0] === "number" ? [answer] : answer).map((at) => at.join()),
  );
  const chosen = new Set();
  const widest = Math.max(...cells.map((row) => row.length));
  const press = (at) => {
    if (!chosen.delete(at)) chosen.add(at);
    for (const node of all) set(node, { "aria-pressed": chosen.has(node.dataset.at) });
  };
  const clear = () => {
    for (const node of all) set(node, { class: null });
  };
  const go = (event, i, j) => {
    const [di, dj] = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    }[event.key] ?? [0, 0];
    if (!di && !dj) return;
    event.preventDefault(); // at an edge too: in a lecture hall the arrows turn the card
    const next = di
      ? grid.querySelector(`[data-at="${i + di},${j}"]`)
      : all[all.indexOf(event.currentTarget) + dj]; // on into the next row
    if (!next) return;
    for (const node of all) node.tabIndex = node === next ? 0 : -1;
    next.focus();
  };
  // Numbers alone do not say where they stand
  const headed = Number(cells.flat().every((text) => /^−?[\d.]+$/.test(text)));
  const heading = (k, place) =>
    el("span", { class: "fa-fine", "aria-hidden": "true", text: k, style: `grid-area:${place}` });
  const heads = headed
    ? [
        ...cells[0].map((_, j) => heading(j, `1/${j + 2}`)),
        ...cells.map((_, i) => heading(rows?.[i] ?? i, `${i + 2}/1`)),
      ]
    : [];
  const isAlone = (text) => cells.flat().filter((other) => other === text).length === 1; // a name of its own says all
  const all = cells.flatMap((row, i) =>
    row.map((text, j) => {
      const node = el("button", {
        type: "button",
        "data-at": `${i},${j}`,
        "aria-pressed": "false",
        tabindex: i || j ? "-1" : "0",
        text,
        style: `grid-area:${i + headed + 1}/${j + headed + 1}`,
        "aria-label":
          text && !headed && isAlone(text)
            ? text
            : t("cell", { what: text || t("cell.empty"), row: rows?.[i] ?? i, column: j }),
      });
      node.addEventListener("click", () => press(`${i},${j}`));
      node.addEventListener("keydown", (event) => go(event, i, j));
      return node;
    }),
  );
  const grid = el(
    "div",
    {
      class: `fa-click-grid${headed ? " is-headed" : ""}`,
      role: "group",
      "aria-label": words,
      style: `--columns:${widest}`,
    },
    [...heads, ...all],
  );
  const check = () => {
    if (!chosen.size) return { again: t("cell.first") };
    const right = chosen.size === wanted.size && [...chosen].every((at) => wanted.has(at));
    for (const node of all)
      set(node, {
        class: chosen.has(node.dataset.at)
          ? wanted.has(node.dataset.at)
            ? "is-right"
            : "is-wrong"
          : null,
      });
    if (right) return { right, because: reasons[0] };
    const [r, c] = [...chosen, ...wanted]
      .find((at) => chosen.has(at) !== wanted.has(at))
      .split(",");
    return {
      right,
      because: [missing(chosen, wanted) || notes?.[r]?.[c], reasons[1]].filter(Boolean).join(" "),
    };
  };
  const hint = el("p", { class: "fa-fine", text: t("cell.all") });
  return {
    body: el("div", {}, [hint, el("div", { class: "fa-scroll", "data-name": words }, [grid])]),
    check,
    clear,
  };
}

/** Lines whose gaps are filled and which are then run by the server. */
function fill({ words, options, gaps, reasons, run }) {
  const lines = options.map(([line], k) =>
    gapped(
      line,
      gaps.filter(([at]) => at === k),
    ),
  );
  const menus = lines.flatMap((line) => line.menus);
  const { given, show } = runner(words, run);
  const check = () => {
    if (menus.some((menu) => !menu.value)) return { again: t("fill") };
    show(menus.map((menu, k) => [`g${k + 1}`, menu.value]));
    const right = lines.every((line) => line.filled());
    return { right, because: reasons[right ? 0 : 1] };
  };
  const code = el(
    "ol",
    { class: "fa-lines is-fixed" },
    lines.map((line) => el("li", {}, [line.code])),
  );
  return { body: code, check, given, act: t("run") };
}

export const KINDS = { choice, number: numeric, order, click, fill };
