// What the pages share in the browser: the address, and what the kernel said of which Problem.

import { Address } from "./address.js";
import { BUILD } from "../lib/build.js";
import { el, hall, set } from "../lib/dom.js";
import { count, pending } from "../lib/pending.js";
import { PROBLEM_KEYS, problemOf } from "../model/query.js";
import { showSymbols, Terms } from "./terms.js";

const RUN = "run-"; // the Problem of the Run page in the address
const RUN_ORDER = ["data", "seed", "n", "d", "br", "bc", "b", "h", "mask", "dtype", "methods", "text", "gain"]; // of its controls

export const address = new Address();
const findings = new Map(); // query of a Problem → { device, agrees }
const asked = new URLSearchParams(window.location.search).get("page") ?? "step"; // the tab to open with
let onScreen = ["run", "memory", "parallel", "learn"].includes(asked) ? asked : "step"; // the tab on screen
let arrived = onScreen === "step"; // the tab that the address names has been shown
// Until the page is open: the controls of two pages follow the address, a bad address is said, the tab is there.
const opening = new Set(["step", "run", "told", ...(arrived ? [] : ["tab"]), ...(onScreen === "learn" ? ["learn"] : [])]);

/** A part of the page has taken what the address says; without a name, those who said so before this was here. */
export function opened(name) {
  for (const one of [name, ...(window.faOpened ?? [])]) opening.delete(one);
  pending("opening", opening.size > 0);
}

/** Resolves once this page is on screen, to stay. */
export const onPage = (name) => new Promise((done) => {
  if (onScreen === name) return done();
  document.addEventListener("fa:page", ({ detail }) => detail === name && done());
});

document.addEventListener("fa:opened", () => opened());
opened();

let shown = ""; // query of the Problem that the Step page shows

function chip() {
  const node = document.querySelector(".fa-kernel-chip");
  if (!node) return;
  const found = findings.get(shown);
  node.hidden = !found || onScreen !== "step"; // it is said of the picture there
  if (!found) return;
  const [with_, sign] = found.agrees ? ["agrees with", "✓"] : ["differs from", "✗"];
  const full = `${found.device} · kernel ${with_} this picture ${sign}`;
  node.classList.toggle("is-bad", !found.agrees);
  node.title = full;
  node.replaceChildren(
    el("span", { class: "fa-chip-full", text: full }),
    el("span", { class: "fa-chip-short", text: `${sign} kernel` }),
    el("span", { class: "fa-chip-word", text: ` ${with_.split(" ")[0]}` }),
  );
}

/** The player shows this Problem at this place. */
export function placed({ query, step, phase }) {
  address.write({ text: null, gain: null, ...query, step, phase });
  const now = new URLSearchParams(query).toString();
  if (now === shown) return;
  shown = now;
  chip();
}

const terms = new Terms(() => fetch(new URL(`fa/glossary?build=${BUILD}`, document.baseURI)).then((answer) => answer.json()));
document.addEventListener("fa:symbols", () => showSymbols(terms, document.activeElement));

/** Shows the page of this name, if it is not on screen. */
function open(name) {
  const tab = [...document.querySelectorAll("#pages > .tab-wrapper [role=tab]")].find((one) => one.textContent.trim().toLowerCase() === name);
  if (tab?.getAttribute("aria-selected") === "false") tab.click();
}

// Back and Forward between the pages.
window.addEventListener("popstate", () => {
  address.restore();
  open(new URLSearchParams(window.location.search).get("page") ?? "step");
});

// Called by name from Gradio's events, which know no modules.
window.faSite = {
  /** Gradio is ready: the page that the address names. */
  open() {
    if (!arrived) open(asked);
  },
  /** A tab was chosen. While the page opens Gradio first selects its first tab, which is no choice: until the
   * tab that the address names has been shown, another one does not count. */
  page(name) {
    arrived ||= name === asked;
    if (!arrived) return;
    onScreen = name;
    opened("tab");
    document.dispatchEvent(new CustomEvent("fa:page", { detail: name }));
    chip();
    const place = { page: name === "step" ? null : name, ...(name === "learn" ? {} : { rung: null }) };
    const before = new URLSearchParams(window.location.search).get("page") ?? "step";
    if (name === before) address.write(place);
    else address.push(place);
  },
  /** The Run page runs these control values: they go to the address unless they are the Step page's Problem. */
  ran(values) {
    const query = Object.fromEntries(RUN_ORDER.map((key, k) => [key, String(values[k])]));
    for (const [key, plain] of [["text", ""], ["gain", "1"]]) if (query[key] === plain) query[key] = null;
    address.flush();
    const own = new URLSearchParams(problemOf(window.location.search));
    const shared = PROBLEM_KEYS.filter((key) => key !== "order");
    const plain = `${query.b} ${query.h} ${query.methods.split(",").sort()}` === `1 1 ${["naive", own.get("order") ?? "fa2"].sort()}`;
    const same = plain && shared.every((key) => own.get(key) === query[key]);
    address.write(Object.fromEntries(RUN_ORDER.map((key) => [RUN + key, same ? null : query[key]])));
  },
  /** A page of figures shows these values: those that are not its defaults go to the address. */
  remember(prefix, keys, plain, values) {
    if (!this.taken.has(prefix)) return; // a choice before that: what the address asks for is still to come
    const said = keys.map((key, k) => [prefix + key, values[k] === null || String(values[k]) === plain[key] ? null : String(values[k])]);
    address.write(Object.fromEntries(said));
  },
  /** Whether this is a lecture hall, as the server wants it said. */
  hall() {
    return document.body.classList.contains("fa-present") ? "present" : "";
  },
  /** A page of figures asks the server (1), or has its answer (−1). */
  asks(by) {
    count("figures", by);
  },
  taken: new Set(), // prefixes whose page has taken what the address says
  /** What the address says under this prefix. */
  asked(prefix) {
    this.taken.add(prefix);
    address.flush();
    const own = [...new URLSearchParams(window.location.search)].filter(([key]) => key.startsWith(prefix));
    const said = own.map(([key, value]) => [key.slice(prefix.length), value]);
    return new URLSearchParams([...said, ["mode", this.hall()]]).toString();
  },
  /** The Problem on the Step page, as the address has it. */
  query() {
    address.flush();
    return problemOf(window.location.search);
  },
  /** A run has ended: what it found is kept for the Problem it is about. */
  found() {
    const verdict = document.querySelector("#run-result :is(.fa-run-words b, .fa-run-refused)");
    const said = document.querySelector(".fa-said"); // there from the start, so that it is read out
    if (verdict && said) said.textContent = verdict.textContent;
    const data = document.querySelector('[data-testid="run-result"]')?.dataset;
    if (!data?.agrees) return; // nothing was compared with the picture
    findings.set(data.query, { device: data.device, agrees: data.agrees === "true" && data.right === "true" });
    chip();
  },
};

// Tables on the Run page: downloads are made here, of the very figures on the page.
const TYPES = { csv: "text/csv", json: "application/json", py: "text/x-python", ptx: "text/plain", sass: "text/plain" };

/** A table's own rows, each of which can be read alone, where it has them. */
function csv({ table, rows: all }) {
  const rows = table ?? all;
  const keys = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : (value ?? ""));
  return [keys, ...rows.map((row) => keys.map((key) => row[key]))].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

/** A folded table is made when it is first unfolded. */
document.addEventListener("toggle", ({ target }) => {
  const holder = target.matches?.("details.fa-figures") && target.open && target.closest("[data-rows]");
  if (!holder || target.querySelector("table")) return;
  const { what, head, rows } = JSON.parse(holder.dataset.rows);
  const keys = [...new Set(rows.flatMap(Object.keys))];
  const shown = (value) => (typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 5 }) : String(value ?? "–"));
  const line = (row) => el("tr", {}, keys.map((key, k) => el(k ? "td" : "th", k ? { text: shown(row[key]) } : { scope: "row", text: shown(row[key]) })));
  const top = el("tr", {}, head.map((text) => el("th", { scope: "col", text })));
  const table = el("table", {}, [el("caption", { text: what }), el("thead", {}, [top]), el("tbody", {}, rows.map(line))]);
  target.querySelector("summary").after(el("div", { class: "fa-run-table", tabindex: 0, role: "region", "aria-label": what }, [table]));
}, { capture: true });

function download(name, kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: TYPES[kind] }));
  link.download = `${name}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Enter takes what was typed into a menu of numbers; Gradio would take the first of its list that holds the digits.
const typed = new WeakSet();
document.addEventListener("input", ({ target }) => target.closest?.(".fa-sizes") && typed.add(target));
document.addEventListener("keydown", (event) => {
  if (!typed.has(event.target)) return;
  if (event.key.startsWith("Arrow")) typed.delete(event.target);
  if (event.key !== "Enter") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  typed.delete(event.target);
  event.target.blur();
}, { capture: true });

// The plot library takes a second to start: it is fetched when somebody heads for a page of charts.
const CHARTED = new Set(["Run", "Memory", "Parallel"]);
function fetchPlots({ target }) {
  const tab = target.closest?.("[role=tab]");
  const address = document.querySelector("meta[name=fa-plots]")?.content;
  if (!address || !CHARTED.has(tab?.textContent.trim())) return;
  for (const kind of ["pointerover", "focusin"]) document.removeEventListener(kind, fetchPlots);
  document.head.append(el("script", { type: "module", src: new URL(address, document.baseURI) })); // the import in Gradio finds it
}
for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, fetchPlots);

// Present on a page of figures: the picture alone, made anew in large type; keys change the view.
const FIGURES = "#pages > [role=tabpanel] .fa-figure-page";
const figurePage = () => [...document.querySelectorAll(FIGURES)].find((page) => page.checkVisibility());

function present(on) {
  hall(on);
  address.write({ mode: on ? "present" : null });
  document.dispatchEvent(new CustomEvent("fa:pick", { detail: "" }));
}

document.addEventListener("fa:present-here", () => present(true));
document.addEventListener("fa:leave-hall", () => present(false));
document.addEventListener("keydown", (event) => {
  const page = document.body.classList.contains("fa-present") && figurePage();
  if (!page || event.defaultPrevented || event.target.closest("[data-testid=warps]")) return;
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (event.key === "Escape") present(false);
  if (!step) return;
  event.preventDefault();
  const views = [...page.querySelectorAll(".fa-views fieldset:first-of-type input")];
  views[Math.min(views.length - 1, Math.max(0, views.findIndex((view) => view.checked) + step))].click();
});

// Gradio counts a key as input to a text, but not what is pasted, dropped, deleted or composed.
let counted = false;
document.addEventListener("keypress", ({ key }) => { counted = key !== "Enter"; }, { capture: true });
document.addEventListener("input", ({ target }) => {
  if (!counted && target.matches?.(".fa-own textarea")) target.dispatchEvent(new KeyboardEvent("keypress", { bubbles: true, key: " " }));
  counted = false;
});

// The map of tiles is one stop of the Tab key; arrows move on it.
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
document.addEventListener("keydown", (event) => {
  const from = event.target.closest?.(".fa-tile-table td");
  const [down, right] = MOVES[event.key] ?? [];
  if (!from || down === undefined) return;
  event.preventDefault();
  const row = from.closest("table").rows[from.parentNode.rowIndex + down];
  const to = row?.cells[from.cellIndex + right]?.querySelector(".fa-cell:not(:disabled)");
  if (!to) return;
  set(from.querySelector(".fa-cell"), { tabindex: -1 });
  set(to, { tabindex: 0 });
  to.focus();
}, { capture: true });

document.addEventListener("click", ({ target }) => {
  const pick = target.closest?.("[data-pick]")?.dataset.pick;
  if (pick) document.dispatchEvent(new CustomEvent("fa:pick", { detail: pick }));
});

document.addEventListener("click", async ({ target }) => {
  const { download: kind, copy } = target.dataset ?? {};
  const data = (kind || copy) && target.closest("[data-rows]")?.dataset;
  if (!data) return;
  if (kind) return download(data.name, kind, kind === "csv" ? csv(JSON.parse(data.rows)) : data.rows);
  const label = target.textContent;
  try {
    await navigator.clipboard.writeText(data.script);
    target.textContent = "Copied";
  } catch {
    download(data.name, "py", data.script); // no clipboard here: a file will do
  }
  setTimeout(() => { target.textContent = label; }, 1600);
});

// The code of a compiled tile: fetched when asked for, shown in a dialog of its own.
function codeDialog({ kind, text, marked, registers, shared_bytes, spill_bytes, triton }, opener) {
  const matrix = new Set(marked);
  const pre = el("pre", { tabindex: 0, "aria-label": `${kind.toUpperCase()} of this tile` });
  const marks = [];
  text.split("\n").forEach((line, k) => {
    const node = matrix.has(k) ? el("mark", { text: line }) : document.createTextNode(line);
    if (matrix.has(k)) marks.push(node);
    pre.append(node, "\n");
  });
  const about = `${kind.toUpperCase()} · compiled here with Triton ${triton}: ${registers} registers, ${shared_bytes.toLocaleString("en")} bytes shared, ${spill_bytes} spilled`;
  const next = el("button", { type: "button", text: `Next of ${marks.length} matrix instructions` });
  const save = el("button", { type: "button", text: "Download" });
  const close = el("button", { type: "button", text: "Close" });
  const dialog = el("dialog", { class: "fa-listing", "aria-label": about }, [el("div", { class: "fa-listing-head" }, [el("b", { text: about }), marks.length ? next : null, save, close]), pre]);
  let at = -1;
  next.addEventListener("click", () => marks[(at = (at + 1) % marks.length)]?.scrollIntoView({ block: "center" }));
  save.addEventListener("click", () => download("flashattention-tile", kind, text));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { dialog.remove(); opener.focus(); });
  document.querySelector(".gradio-container").append(dialog);
  dialog.showModal();
  next.click();
}

document.addEventListener("click", async ({ target }) => {
  const asked = target.dataset?.compiled;
  if (!asked || target.disabled) return;
  const label = target.textContent;
  target.disabled = true;
  target.textContent = "Compiling…";
  try {
    const answer = await fetch(new URL(`fa/code?${asked}`, document.baseURI));
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    target.disabled = false;
    codeDialog(found, target);
  } catch (error) {
    const said = document.querySelector(".fa-said");
    if (said) said.textContent = error.message;
    target.title = error.message;
    target.after(el("span", { class: "fa-warn", role: "alert", text: error.message }));
  }
  target.disabled = false;
  target.textContent = label;
});
