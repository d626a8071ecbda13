// One tile, shared out among warps in two ways side by side: split-K (FA-1) and split-Q (FA-2), on
// one transport. What the warps hold and exchange comes from the server, see explainer/parallel/warps.py.

import { address } from "../site/address.js";
import { el, get, set } from "../lib/dom.js";
import { buildUrl, loadStyles } from "../lib/build.js";
import { bytes, clamp, integer, sub } from "../lib/format.js";
import { PlayerBase, Transport } from "../views/transport.js";
import { read } from "../model/warp_steps.js";
import { Bands, Parts, Products, Shared } from "./views.js";
import { t } from "./texts.js";

/** @import { Split, Tile, WarpStep } from "../model/warp_steps.js" */
/** A component as Gradio mounts it. @typedef {{element: HTMLElement, props: {value: string}, watch: (name: string, act: () => void) => void}} Component */

const PLACE = "par-step"; // in the address
const BEAT_MS = 1400;
const SPLITS = {
  k: { name: t("k"), remark: t("k.remark") },
  q: { name: t("q"), remark: t("q.remark") },
};
const PARTS = { own: t("own"), write: t("write"), read: t("read") };
/** The tensors that a phase works on. @type {Record<string, string>} */
const ACTIVE = {
  load: "QKVO",
  scores: "QKS",
  mask: "S",
  max: "S",
  exp: "S",
  sum: "S",
  output: "SVO",
  store: "O",
};
const EXCHANGED = ["max", "sum", "output"];
const KEY_LABELS = { first: t("first"), back: t("back"), next: t("next"), last: t("last") };

/** A figure that counts, with the number in the element's own data. @param {string} text */
function counter(text) {
  const number = el("b");
  const label = el("span", { text });
  return { number, label, root: el("span", { class: "fa-count" }, [number, label]) };
}

/** One split: its matrices, its warps' numbers, its shared memory. */
class Lane {
  /** @type {Tile} */
  tile;
  /** @type {WarpStep[]} */
  steps = [];

  /** @param {Split} split */
  constructor(split) {
    this.split = split;
    this.bytes = counter(t("bytes"));
    this.barriers = counter(t("barriers"));
    this.sentence = el("p", { class: "fa-lane-sentence" });
    this.bands = Object.fromEntries([..."QKVSO"].map((tensor) => [tensor, new Bands(tensor)]));
    this.parts = new Parts();
    this.products = new Products();
    this.shared = new Shared();
    const { name, remark } = SPLITS[split];
    const head = el("div", { class: "fa-lane-head" }, [
      el("div", {}, [el("h2", { text: name }), el("span", { class: "fa-remark", text: remark })]),
      el("div", { class: "fa-counts" }, [this.bytes.root, this.barriers.root]),
    ]);
    const picture = el(
      "div",
      { class: "fa-multiply" },
      Object.values(this.bands).map((view) => view.root),
    );
    const registers = el("div", { class: "fa-registers" }, [this.parts.root, this.products.root]);
    this.root = el(
      "section",
      { class: `fa-card fa-warp-lane fa-split-${split}`, "data-split": split, "aria-label": name },
      [head, this.sentence, picture, registers, this.shared.root],
    );
  }

  /** @param {Tile} tile */
  show(tile) {
    this.tile = tile;
    this.steps = read(tile[this.split]);
    for (const [tensor, view] of Object.entries(this.bands)) {
      const step = this.steps.find((s) => s.pieces[tensor]);
      if (step) view.layout(tile, step.pieces[tensor]);
    }
    this.parts.layout(tile, this.split);
    this.products.layout(tile);
  }

  /** Measure the room for numbers in every view; return true if one of them writes them differently now. */
  measure() {
    const views = [...Object.values(this.bands), this.parts];
    return views.map((view) => view.measure()).includes(true);
  }

  /** Return the writes whose parts lie in shared memory: those of this phase so far. @param {number} at */
  written(at) {
    const { phase } = this.steps[at];
    return this.steps
      .slice(0, at + 1)
      .flatMap((s) => (s.phase === phase ? s.moves.filter((x) => x.op === "write") : []));
  }

  /** @param {number} at */
  draw(at) {
    const step = this.steps[at];
    const { i, j, operands } = this.tile;
    const names = { Q: `Q${sub(i)}`, K: `K${sub(j)}ᵀ`, V: `V${sub(j)}`, O: `O${sub(i)}` };
    const active = (/** @type {string} */ tensor) =>
      step.part === "own" && ACTIVE[step.phase].includes(tensor);
    const weights = step.pieces.P ? "P" : "S";
    for (const [tensor, name] of Object.entries(names))
      this.bands[tensor].draw(step.pieces[tensor] ?? [], name, active(tensor));
    this.bands.S.draw(step.pieces[weights] ?? [], weights + sub(i) + sub(j), active("S"));
    const output = ["output", "store"].includes(step.phase);
    this.parts.root.hidden = output;
    this.products.root.hidden = !output;
    this.parts.draw(step);
    const partial = step.pieces.PV && step.phase === "output" && step.part !== "read";
    if (output)
      this.products.draw(
        step.pieces[partial ? "PV" : "O"],
        partial ? t("products.part", { block: names.V }) : t("products.rows", { block: names.O }),
      );
    /** @type {[name: string, nbytes: number][]} */
    const labels = operands.map(([tensor, nbytes]) => [
      tensor + sub(tensor === "Q" ? i : j),
      nbytes,
    ]);
    this.shared.draw(step, this.written(at), labels);
    set(this.sentence, { text: step.sentence });
    set(this.bytes.number, { text: bytes(step.moved) });
    set(this.barriers.number, { text: integer(step.total) });
    set(this.barriers.label, { text: step.total === 1 ? t("barrier") : t("barriers") });
    set(this.root, { "data-bytes": step.moved, "data-barriers": step.total });
    return step;
  }
}

/** Both lanes, their transport, and the tile that they show. */
class WarpStage extends PlayerBase {
  /** @type {Tile | undefined} */
  tile;
  /** @type {WarpStep[]} */
  steps = [];
  at = 0;

  /** @param {HTMLElement} mount */
  constructor(mount) {
    super({ class: "fa-player fa-warps", "data-testid": "warps", "aria-label": t("stage") });
    this.lanes = [new Lane("k"), new Lane("q")];
    /** @type {[string, string][]} */
    const beats = [
      ["step", t("beat.step")],
      ["phase", t("beat.phase")],
    ];
    this.transport = new Transport(this, BEAT_MS, {
      label: t("beat"),
      choices: beats,
      hint: t("hint"),
    });
    for (const [name, label] of Object.entries(KEY_LABELS))
      set(get(this.transport.buttons, `.fa-key-${name}`), { "aria-label": label, title: label });
    this.stage = el(
      "div",
      { class: "fa-warp-lanes" },
      this.lanes.map((lane) => lane.root),
    );
    this.root.append(this.notice, this.stage, this.transport.root);
    mount.replaceChildren(this.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.resizer.observe(this.stage);
  }

  get isReady() {
    return Boolean(this.tile);
  }

  get cards() {
    return [this.stage];
  }

  /** Fetch and show the tile of `query`; a refused one leaves the picture as it is. @param {string} query */
  load(query) {
    return this.loading(async (signal) => {
      const response = await this.fetch(buildUrl("warps", query), signal);
      const tile = await response.json();
      this.notify(null);
      this.show(tile);
    });
  }

  /** Show a tile, at the phase where the last one was left. @param {Tile} tile */
  show(tile) {
    this.transport.stop();
    /** @type {WarpStep | undefined} */
    const before = this.steps[this.at];
    this.tile = tile;
    set(this.stage, { style: `--warps:${tile.warps}`, "data-warps": tile.warps });
    for (const lane of this.lanes) lane.show(tile);
    this.steps = this.lanes[0].steps;
    const requested = Number(new URLSearchParams(window.location.search).get(PLACE));
    const same = this.steps.findIndex(
      ({ phase, part }) => phase === before?.phase && part === before.part,
    );
    const first = Number.isInteger(requested) ? requested : 0;
    this.at = clamp(before ? same : first, 0, this.steps.length - 1);
    this.transport.length(this.steps.length);
    this.render();
  }

  /** @param {number} at */
  go(at) {
    if (!this.tile) return;
    this.at = clamp(at, 0, this.steps.length - 1);
    address.write({ [PLACE]: this.at || null });
    this.render();
  }

  beat() {
    if (!this.root.isConnected || this.at === this.steps.length - 1) return false;
    const { phase } = this.steps[this.at];
    let next = this.at + 1;
    if (this.transport.grain.value === "phase")
      // to the end of the next phase
      while (
        this.steps[next + 1] &&
        (this.steps[next].phase === phase || this.steps[next + 1].phase === this.steps[next].phase)
      )
        next++;
    this.go(next);
    return this.at < this.steps.length - 1;
  }

  layout() {
    this.laidOut = this.room();
    this.render();
  }

  render() {
    if (!this.tile) return;
    const [k, q] = this.lanes.map((lane) => lane.draw(this.at));
    for (const lane of this.lanes) if (lane.measure()) lane.draw(this.at);
    const { i, j, kind, warps } = this.tile;
    const where =
      kind === "full" ? t("tile", { i, j, warps }) : t("tile.kind", { i, j, kind, warps });
    const at = { k: this.at + 1, n: this.steps.length, phase: k.phase };
    const title = EXCHANGED.includes(k.phase)
      ? t("title.part", { ...at, part: PARTS[k.part] })
      : t("title", at);
    const soFar = t("so_far", {
      k: bytes(k.moved),
      k_barriers: k.total,
      q: bytes(q.moved),
      q_barriers: q.total,
    });
    set(this.root, {
      "data-step": this.at,
      "data-steps": this.steps.length,
      "data-phase": k.phase,
      "data-part": k.part,
    });
    this.transport.show({
      step: this.at,
      title,
      words: `${where} ${soFar}`,
      spoken: t("spoken", { title, k: k.sentence, q: q.sentence, so_far: soFar }),
    });
  }
}

/** The one component of this script, js/warps.js, which brings its own stylesheet as well. @param {unknown} _ @param {Component} how */
export function mount(_, how) {
  loadStyles("warps");
  mountWarps(how);
}

/** `watch` reports each new query that the controls send. @param {Component} component */
export function mountWarps({ element, props, watch }) {
  const stage = new WarpStage(get(element, ".fa-mount"));
  stage.load(props.value ?? "");
  watch("value", () => stage.load(props.value ?? ""));
}
