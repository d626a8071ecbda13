// Questions and claims of the Learn page. What was answered stays in this browser, nothing is sent.

import { el, set } from "../lib/dom.js";
import { draw } from "./blocks.js";
import { asked, settle, SILENT } from "./widget.js";

// In localStorage: {question key: "right" | "tried"}
const PLACE = "fa-learn";
const GAP = "___";
// For names of radio groups
let count = 0;

/** What was answered, kept where the browser lets us, else for as long as the page is open. */
export class Progress {
  constructor() {
    this.listeners = [];
    try {
      this.known = JSON.parse(window.localStorage.getItem(PLACE)) ?? {};
    } catch {
      // Private mode, or nothing that can be read
      this.known = {};
    }
  }

  of(key) {
    return this.known[key];
  }

  tell(key, right) {
    if (this.known[key] !== "right") this.known[key] = right ? "right" : "tried";
    this.keep();
  }

  clear() {
    this.known = {};
    this.keep();
  }

  keep() {
    try {
      window.localStorage.setItem(PLACE, JSON.stringify(this.known));
    } catch {
      // no room or no permission: the page goes on without
    }
    for (const listener of this.listeners) listener();
  }
}

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
    el("select", { "aria-label": `Gap ${k + 1} in: ${words.replaceAll(GAP, "…")}` }, [el("option", { value: "", text: "…" }), ...offered.map((word) => el("option", { value: word, text: word }))]));
  const pieces = words.split(GAP);
  const code = el("code", {}, pieces.flatMap((piece, k) => [document.createTextNode(piece), k < pieces.length - 1 ? (menus[k] ?? document.createTextNode(GAP)) : null]));
  return { code, menus, filled: () => gaps.every(([, , right], k) => menus[k].value === right) };
}

// ---- the five kinds: each {body, check()}; check gives {right, because} or {again: what is missing}

function choice({ options, answer }) {
  const name = `fa-question-${++count}`;
  const inputs = options.map((_, k) => el("input", { type: "radio", name, value: k }));
  const labels = options.map(([words], k) => el("label", { class: "fa-option" }, [inputs[k], el("span", { text: words })]));
  const check = () => {
    const chosen = inputs.findIndex((input) => input.checked);
    if (chosen < 0) return { again: "Choose an answer first." };
    return { right: chosen === answer, because: options[chosen][1] };
  };
  return { body: el("div", { class: "fa-options" }, labels), check };
}

function numeric({ words, answer, tolerance, reasons }, submit) {
  const input = el("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": `Your answer, a number: ${words}` });
  input.addEventListener("keydown", (event) => event.key === "Enter" && submit());
  const check = () => {
    const typed = input.value.trim().replace("−", "-").replace(/^(-?\d*),(\d+)$/, "$1.$2").replaceAll(/[\s_]/g, "");
    const value = typed === "" ? NaN : Number(typed);
    if (Number.isNaN(value)) return { again: "Type a number first, such as 0.5." };
    const right = Math.abs(value - answer) <= tolerance + Math.abs(answer) * 1e-9;
    return { right, because: reasons[right ? 0 : 1] };
  };
  return { body: el("div", { class: "fa-number-answer" }, [input]), check };
}

/** A line to be put in its place: a handle (pointer and arrow keys), its text with menus for gaps. */
class Line {
  constructor(index, words, gaps, move) {
    Object.assign(this, { index, words });
    const { code, filled } = gapped(words, gaps);
    this.filled = filled;
    const button = (label, sign, by) => {
      const node = el("button", { type: "button", class: "fa-move", tabindex: "-1", "aria-label": `${label}: ${words}`, text: sign });
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
    this.root = el("li", {}, [this.handle, code, this.mark, button("Move up", "▲", -1), button("Move down", "▼", 1), this.reason]);
  }

  /** "✓", or what is wrong in words; null takes the mark away. */
  judge(placed) {
    const words = placed === null ? "" : !placed ? "✗ not here" : this.filled() ? "✓" : "✗ gap";
    set(this.mark, { text: words, class: `fa-line-mark ${words === "✓" ? "is-right" : "is-wrong"}` });
  }
}

function order({ key, options, gaps }) {
  const live = el("p", { class: "fa-sr", "aria-live": "polite" });
  const lines = options.map(([words], k) => new Line(k, words, gaps.filter(([at]) => at === k), move));
  const now = shuffled(lines.length, key).map((k) => lines[k]);
  const list = el("ol", { class: "fa-lines" });
  function lay() {
    now.forEach((line, k) => {
      if (list.children[k] !== line.root) list.insertBefore(line.root, list.children[k] ?? null);
      set(line.handle, { "aria-label": `Line ${k + 1} of ${now.length}: ${line.words.replaceAll(GAP, "…")}. Arrow keys move it.` });
    });
  }
  function move(line, by) {
    const from = now.indexOf(line);
    const to = Math.max(0, Math.min(now.length - 1, from + by));
    if (to === from) return;
    const focused = document.activeElement;
    now.splice(to, 0, ...now.splice(from, 1));
    for (const each of lines) {
      each.judge(null);
      each.reason.hidden = true;
    }
    lay();
    if (line.root.contains(focused)) focused.focus({ preventScroll: true });
    set(live, { text: `Now line ${to + 1} of ${now.length}.` });
  }
  for (const line of lines) drag(line, now, move);
  lay();
  const check = () => {
    // Equal lines may change places
    const placed = now.map((line, k) => line.words === lines[k].words);
    now.forEach((line, k) => line.judge(placed[k]));
    const good = placed.filter(Boolean).length;
    const open = now.filter((line) => !line.filled()).length;
    const right = good === now.length && open === 0;
    for (const line of lines) {
      set(line.reason, { text: options[line.index][1] });
      line.reason.hidden = !right || !options[line.index][1];
    }
    const inPlace = right ? "Every line is in its place." : `${good} of ${now.length} lines ${good === 1 ? "is" : "are"} in place`;
    return { right, because: right ? inPlace : open ? `${inPlace}; ${open} with a gap to mend.` : `${inPlace}.` };
  };
  const hint = el("p", { class: "fa-fine", text: "Drag a line, use its ▲ and ▼, or focus its handle and press ↑ or ↓." });
  return { body: el("div", {}, [hint, list, live]), check };
}

/** The handle follows the pointer: the line changes places as soon as it passes a neighbour's middle. */
function drag(line, now, move) {
  line.handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    line.handle.setPointerCapture(event.pointerId);
    line.root.classList.add("is-dragged");
    const over = ({ clientY }) => {
      const at = now.indexOf(line);
      const middle = (other) => { const box = other.root.getBoundingClientRect(); return box.top + box.height / 2; };
      if (at > 0 && clientY < middle(now[at - 1])) move(line, -1);
      else if (at < now.length - 1 && clientY > middle(now[at + 1])) move(line, 1);
      else return;
      if (line.handle.isConnected && !line.handle.hasPointerCapture(event.pointerId)) line.handle.setPointerCapture(event.pointerId);
    };
    const done = () => {
      line.root.classList.remove("is-dragged");
      document.removeEventListener("pointermove", over);
      for (const name of ["pointerup", "pointercancel"]) document.removeEventListener(name, done);
    };
    document.addEventListener("pointermove", over);
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, done);
  });
}

function click({ words, cells, answer, reasons }) {
  const wanted = new Set((typeof answer[0] === "number" ? [answer] : answer).map((at) => at.join()));
  const chosen = new Set();
  const widest = Math.max(...cells.map((row) => row.length));
  const press = (at) => {
    if (wanted.size === 1 && !chosen.has(at)) chosen.clear();
    if (!chosen.delete(at)) chosen.add(at);
    for (const node of all) set(node, { "aria-pressed": chosen.has(node.dataset.at), class: null });
  };
  const go = (event, i, j) => {
    const [di, dj] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!di && !dj) return;
    event.preventDefault(); // at an edge too: in a lecture hall the arrows turn the card
    const next = grid.querySelector(`[data-at="${i + di},${j + dj}"]`);
    if (!next) return;
    for (const node of all) node.tabIndex = node === next ? 0 : -1;
    next.focus();
  };
  // Numbers alone do not say where they stand
  const headed = Number(cells.flat().every((text) => /^−?[\d.]+$/.test(text)));
  const heading = (k, place) => el("span", { class: "fa-fine", "aria-hidden": "true", text: k, style: `grid-area:${place}` });
  const heads = headed ? [...cells[0].map((_, j) => heading(j, `1/${j + 2}`)), ...cells.map((_, i) => heading(i, `${i + 2}/1`))] : [];
  const all = cells.flatMap((row, i) => row.map((text, j) => {
    const node = el("button", { type: "button", "data-at": `${i},${j}`, "aria-pressed": "false", tabindex: i || j ? "-1" : "0", text, style: `grid-area:${i + headed + 1}/${j + headed + 1}`, "aria-label": `${text || "empty"}, row ${i}, column ${j}` });
    node.addEventListener("click", () => press(`${i},${j}`));
    node.addEventListener("keydown", (event) => go(event, i, j));
    return node;
  }));
  const grid = el("div", { class: `fa-click-grid${headed ? " is-headed" : ""}`, role: "group", "aria-label": words, style: `--columns:${widest}` }, [...heads, ...all]);
  const check = () => {
    if (!chosen.size) return { again: wanted.size === 1 ? "Choose a cell first." : "Choose the cells first." };
    const right = chosen.size === wanted.size && [...chosen].every((at) => wanted.has(at));
    for (const node of all) set(node, { class: chosen.has(node.dataset.at) ? (wanted.has(node.dataset.at) ? "is-right" : "is-wrong") : null });
    return { right, because: reasons[right ? 0 : 1] };
  };
  const hint = el("p", { class: "fa-fine", text: wanted.size === 1 ? "Choose one cell." : "Choose every cell that fits." });
  return { body: el("div", {}, [hint, el("div", { class: "fa-scroll", "data-name": words }, [grid])]), check };
}

/** Lines whose gaps are filled and which are then run by the server: what they give is shown below. */
function fill({ words, options, gaps, reasons, run }) {
  const lines = options.map(([line], k) => gapped(line, gaps.filter(([at]) => at === k)));
  const menus = lines.flatMap((line) => line.menus);
  const given = el("div", { class: "fa-blocks", role: "group", "aria-label": `What it gives: ${words}` });
  const show = async (values) => {
    const found = await asked(run, values).catch(() => ({ error: SILENT }));
    given.replaceChildren(...(found.blocks ?? [{ type: "text", kind: "bad", words: found.error }]).map(draw));
    settle(given);
  };
  const check = () => {
    if (menus.some((menu) => !menu.value)) return { again: "Fill every gap first." };
    show(menus.map((menu, k) => [`g${k + 1}`, menu.value]));
    const right = lines.every((line) => line.filled());
    return { right, because: reasons[right ? 0 : 1] };
  };
  const code = el("ol", { class: "fa-lines is-fixed" }, lines.map((line) => el("li", {}, [line.code])));
  return { body: code, check, given, act: "Run" };
}

const KINDS = { choice, number: numeric, order, click, fill };

const verdict = () => el("p", { class: "fa-verdict", "aria-live": "polite" });

function say(node, kind, words) {
  const sign = { right: "✓ Right. ", wrong: "✗ Not so. ", again: "" }[kind];
  set(node, { text: sign + words, class: `fa-verdict is-${kind}` });
}

/** `<div data-question="{…}">`: the question, its answer's form, a verdict. */
export function mountQuestion(mount, progress) {
  const question = JSON.parse(mount.dataset.question);
  const said = verdict();
  const submit = () => {
    const { right, because, again } = kind.check();
    if (again) return say(said, "again", again);
    say(said, right ? "right" : "wrong", because);
    progress.tell(question.key, right);
    if (right) show();
    else ask.hidden = !hidden().length;
  };
  const hidden = () => mount.parentElement.querySelectorAll(":scope > [data-reveal][hidden]");
  const show = () => {
    for (const part of hidden()) part.hidden = false;
    ask.hidden = true;
  };
  // A second try comes first
  const ask = el("button", { type: "button", class: "fa-small", text: "Show me", hidden: true });
  ask.addEventListener("click", () => { show(); button.focus(); });
  const kind = KINDS[question.kind](question, submit);
  const button = el("button", { type: "button", class: "fa-small is-main", text: kind.act ?? "Check" });
  button.addEventListener("click", submit);
  if (progress.of(question.key) === "right") set(said, { text: "✓ You answered this right before." });
  const legend = el("legend", {}, [el("span", { class: "fa-question-sign", text: "Question" }), el("b", { text: question.words })]);
  mount.classList.add(`is-${question.kind}`);
  mount.replaceChildren(el("fieldset", {}, [legend, kind.body, el("div", { class: "fa-check" }, [button, ask, said]), kind.given]));
  progress.listeners.push(() => progress.of(question.key) || set(said, { text: "", class: "fa-verdict" }));
}

/** `<div data-claim="{…}">`: true or false? The answer shows why, and the demonstration. */
export function mountClaim(mount, progress) {
  const { key, truth, why, source } = JSON.parse(mount.dataset.claim);
  const said = verdict();
  const origin = el("p", { class: "fa-fine" });
  const buttons = [true, false].map((means) => {
    const node = el("button", { type: "button", class: "fa-small", "aria-pressed": "false", text: means ? "True" : "False" });
    node.addEventListener("click", () => {
      buttons.forEach((other) => set(other, { "aria-pressed": other === node }));
      say(said, means === truth ? "right" : "wrong", `${truth ? "It is true." : "It is false."} ${why}`);
      set(origin, { text: source ? `Source: ${source}` : "" });
      mount.classList.add("is-answered");
      for (const part of mount.querySelectorAll("[data-reveal]")) part.hidden = false;
      progress.tell(`claim:${key}`, means === truth);
    });
    return node;
  });
  const asked = el("div", { class: "fa-true-false", role: "group", "aria-label": "True or false?" }, buttons);
  const before = mount.querySelector("[data-reveal]");
  const body = el("div", { class: "fa-claim-answer" }, [asked, said, origin]);
  if (before) before.before(body);
  else mount.append(body);
  // For the handout
  mount.addEventListener("fa:reveal", () => {
    if (mount.classList.contains("is-answered")) return;
    set(said, { text: `${truth ? "True." : "False."} ${why}` });
    set(origin, { text: source ? `Source: ${source}` : "" });
  });
  // It is printed: the reader has still to decide
  mount.addEventListener("fa:conceal", () => {
    if (mount.classList.contains("is-answered")) return;
    for (const node of [said, origin]) set(node, { text: "" });
  });
}
