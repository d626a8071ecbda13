// What a trace is in the browser and what is shown of it, for who reads and for the type checker: types only,
// nothing imports this file at run time. The trace's format is explainer/web/wire.py's; tests/js/test_types.py
// holds that against what is written here.

/** @typedef {string} Order key of an algorithm */
/**
 * What an algorithm declares of itself, in one pass: explainer/algorithms/algorithm.py says what each means.
 * @typedef {{on_chip: string, wide: boolean, columns: "keys" | "lanes"}} StageLayout
 * @typedef {import("./phases.js").Line} CodeLine
 * @typedef {{
 *   label: string, hue: string, opens: string, outer: "rows" | "keys", running: boolean,
 *   output: "unnormalized" | "normalized" | "final", closed_form: Record<"requested" | "compulsory", string>,
 *   saved_for_backward: string[], lanes: number, stores_scores: boolean, scales_dQ: boolean,
 *   strips: Record<string, string[]>, variant_of: string | null, stages: Record<string, StageLayout>,
 *   texts: AlgorithmTexts, pseudocode: CodeLine[],
 * }} Algorithm
 * @typedef {{
 *   remark: string, purpose?: string[], compulsory?: string, products?: Record<string, string>, products_lesson?: string, captions?: Record<string, Record<string, string[]>>,
 *   sentences?: Record<string, Record<string, string[]>>,
 * }} AlgorithmTexts
 */
/** @typedef {"full" | "partial" | "skipped"} Kind what a tile is under the mask and at ragged edges */
/** @typedef {"forward" | "backward"} Pass */
/** @typedef {"scores" | "softmax" | "output" | "D" | "dV" | "dP" | "dS" | "dQ" | "dK" | "scale" | null} Stage which kernel, where a pass has
 * several; null: the one that goes over the tiles */
/** @typedef {[number, number]} Moved bytes read from HBM, bytes written to it */
/** @typedef {Float32Array | Int32Array | Uint8Array | Uint32Array} Numbers flat, row by row */

/** What is done to a score: by `shape`, with these `numbers`; `code` says it of S, `unit` the slope of a head.
 * @typedef {{name: string, shape: "factor" | "tanh" | "slope" | "table", numbers: number[], code: string, unit?: string}} Change */

/**
 * What was asked for, and what follows from it: Br, Bc, the factor of the products, Tr row blocks, Tc key blocks. `plain`: is
 * the mask full or causal? `changes`: what is done to a scaled score, in order.
 * @typedef {{
 *   n: number, d: number, block_q: number, block_k: number, mask: string, plain: boolean, order: Order, dtype: string,
 *   inputs: string, seed: number, score: string, changes: Change[], sink: number | null, scale: number, Tr: number, Tc: number,
 *   heads?: Heads, dropout?: number, rope?: number, block_table?: number[], pages?: number,
 * }} Problem
 *
 * Of several heads, the one shown and the key head that it reads, from 0, and how many there are; bytes of K and V per token. With
 * dropout, P is what of it meets V; with rope, a base, Q and K are rotated. Of a paged cache, the page of each key block, and how
 * many pages the pool has.
 * @typedef {{head: number, q_heads: number, kv_head: number, kv_heads: number, kv_bytes: number}} Heads
 *
 * What the tile needs on chip, `parts` [tensor, shape, bytes, place], and what each card has; `room` is what a thread
 * block may use of each place, in bytes, `largest` the side of the largest square tile there.
 * @typedef {"shared memory" | "registers"} OnChip
 * @typedef {{name: string, room: Record<OnChip, number>, largest: number}} Card
 * @typedef {{parts: [string, number[], number, OnChip][], cards: Record<string, Card>}} Sram
 *
 * What stands before the arrays, as JSON. `kind`: in words, of what kind the numbers are. `query`: the Problem's keys in the address. `row_names`: a sentence's
 * words. `numbers`: false if it came as tiles only. `phases`, those of the pass: bit k of `v_phases` is the k-th; `stages`:
 * `v_stage` k is the k-th; `pairs`: tensors whose blocks are pairs. `itemsize`: bytes of an element, of dQ once it is scaled. `totals`: of the pass, by either convention, of each
 * order and tensor. `dsink`: in a backward with numbers, the gradient of its sink, where it has one.
 * @typedef {{dtype: string, shape: number[], offset: number}} Directory
 * @typedef {{
 *   version: number, kind: string, query: Record<string, string>, problem: Problem, row_names: string[] | null, numbers: boolean,
 *   pass: Pass, phases: string[], stages: Stage[], tensors: string[], pairs: string[], itemsize: Record<string, number>, tile_counts: Record<Kind, number>, has_backward: boolean,
 *   totals: Record<"requested" | "compulsory", Record<Order, Record<string, Moved>>>, dsink?: number, sram: Sram, arrays: Record<string, Directory>,
 * }} Header
 *
 * Of each tile, its kind (Tr × Tc). Of each visit: v_, `v_j` −1 where it has no key block: a strip of rows, or in FA-2 a
 * row block that sees no key (kind skipped); `v_i` −1: a key block that no row sees. Of its transfers: t_, from
 * `t_ptr[v]` on; `t_block` is i, j or i · Tc + j, `t_op` 0 reads, 1 writes, 2 adds to what is in HBM.
 * @typedef {{
 *   tile_kind: Numbers, v_i: Numbers, v_j: Numbers, v_kind: Numbers, v_stage: Numbers, v_phases: Numbers,
 *   v_lane?: Numbers, t_ptr: Numbers, t_tensor: Numbers, t_block: Numbers, t_op: Numbers, t_phase: Numbers, t_bytes: Numbers,
 * }} Skeleton
 *
 * What comes with `numbers` only (`hidden`: a bit per score, none if the mask hides none): matrices (n × d; S and P
 * n × n, S scaled and changed, before its mask, −∞ in the tiles that nobody computes), statistics of each visit's rows from `r_ptr[v]` on, its accumulator from `a_ptr[v]` on. `lane_S` and `lane_P` (n × lanes): lse of each part of the keys, and its weight. `tile_parts` (predicates × Tr × Tc, none of a plain mask): what a tile is under each predicate alone. Of e4m3 `e_…`: errors of the rows of O after each visit, as `r_…` are, and `scale_Q` (Tr), `scale_K` (Tc).
 * @typedef {{
 *   Q: Numbers, K: Numbers, V: Numbers, O: Numbers, S: Numbers, P: Numbers, lse: Numbers, hidden: Numbers, r_ptr: Numbers,
 *   r_m_old: Numbers, r_m_new: Numbers, r_l_old: Numbers, r_l_new: Numbers, r_alpha: Numbers, r_row_max: Numbers,
 *   r_row_sum: Numbers, a_ptr: Numbers, acc: Numbers, tile_parts: Numbers, lane_S?: Numbers, lane_P?: Numbers,
 *   e_plain?: Numbers, e_scaled?: Numbers, e_one_level?: Numbers, e_two_levels?: Numbers, scale_Q?: Numbers, scale_K?: Numbers,
 * }} Values
 *
 * The same of a backward pass: `slope`, where the score changes S, 1 where nobody computes it; P, dP and dS then 0. What a
 * visit adds to its rows of dQ and what HBM holds of them after it, from `a_ptr[v]` on; its key block's dK and dV on chip
 * after it, from `c_ptr[v]` on; NaN where a visit has only one of the two. Without the scale, but FA-1's dQ has it.
 * @typedef {{
 *   Q: Numbers, K: Numbers, V: Numbers, O: Numbers, dO: Numbers, lse: Numbers, D: Numbers, dQ: Numbers, dK: Numbers,
 *   dV: Numbers, S: Numbers, P: Numbers, dP: Numbers, dS: Numbers, slope?: Numbers, hidden: Numbers, tile_parts: Numbers, a_ptr: Numbers,
 *   part_dQ: Numbers, acc_dQ: Numbers, c_ptr: Numbers, acc_dK: Numbers, acc_dV: Numbers,
 * }} BackwardValues
 *
 * @typedef {{header: Header, arrays: Skeleton & Values & BackwardValues}} Decoded
 * @typedef {{header: {step: number}, arrays: Record<string, Numbers>}} Zoom one visit with its numbers
 *
 * What every frame needs besides, made once. `moved`: bytes before each visit, [visit][read, write].
 * `moves`: bytes that a tile moves per row or key of the inner loop. `visitsOfRow`: of each row block, without those that do nothing. `tileVisit` (Tr × Tc): the first of each tile, `tilesOf` the last
 * of each stage; `decimals`: of scores, m and ℓ, as the cells of the tile have room for them; `previous` (the visit before in
 * the same row block and lane), `lastOfLane` (Tr × lanes), `strip` (of a stage and row block, its visit without a key block): −1 where there is none; `written`: of a tensor and block the last transfer that writes it. In the
 * backward: `before`, per gradient the visit that left the sum from which this one goes on, and per row block those that `add` to its dQ.
 * @typedef {{
 *   problem: Problem, steps: number, tensors: string[], moved: Float64Array, visitsOfRow: number[][],
 *   tileVisit: Int32Array, tilesOf: Record<string, Int32Array>, previous: Int32Array, strip: Record<string, Int32Array>, written: Record<string, Int32Array>, zoom?: Zoom, decimals?: number,
 *   lastOfLane: Int32Array, moves: number, before: Record<"dQ" | "dK" | "dV", Int32Array>, adds: number[][],
 * }} Prepared
 * @typedef {Decoded & Prepared} Trace
 */

/**
 * @typedef {{step: number, phase: string}} Place
 * @typedef {{start: number, stop: number}} Span first index, and the one behind the last
 * @typedef {number | undefined} Known undefined: not yet known in this phase
 *
 * A row's statistics at this moment; `row` counts from the matrix' first, `rose`: its maximum is a new one.
 * @typedef {{
 *   row: number, name: string | null, rose: boolean, m_old: Known, l_old: Known, row_max: Known, m_new: Known,
 *   alpha: Known, row_sum: Known, l_new: Known, lse?: Known, D?: Known,
 * }} Row
 * @typedef {"read" | "write" | "add"} Op
 * @typedef {"read" | "write"} Direction
 * @typedef {{
 *   tensor: string, block: number | number[], op: Op, phase: string, bytes: number, moved: boolean,
 * }} Transfer
 * @typedef {{data: Numbers, state: "zero" | "before" | "after" | "final"}} Accumulator
 *
 * The gradients at this moment, null where a visit has none: dK and dV of its keys on chip, dQ of its rows in HBM, none of
 * them scaled before the end; what this visit adds to dQ; all its numbers, by name; and how many key blocks have added to dQ of each row block, of how many.
 * @typedef {{dQ: Accumulator | null, dK: Accumulator | null, dV: Accumulator | null, part: Numbers | null, numbers: Record<string, Numbers>, added: number[], of: number[]}} Grads
 *
 * Everything on screen at (step, phase). `position` is the phase's among `phases`, `done(phase)`: it is over or on;
 * `hiders`: what of the mask hides scores of this tile, null where that is not known; `j` −1: all keys; `first`: nothing of its row block was visited before; `unseen`: the row block sees no key; `reads`, `writes`: HBM bytes so far. `lane`: the part of the keys, of `lanes`; `columns`: what a column of S is. `hides`, `score`: of the tile's
 * row r and key c, beyond the last key too, whether it is hidden and what S shows from "scores" on. `entries`: the matrices by absolute index.
 * @typedef {{
 *   problem: Problem, pass: Pass, step: number, steps: number, phase: string, phases: string[], position: number,
 *   done: (phase: string) => boolean, i: number, j: number, rows: Span, cols: Span, kind: Kind, stage: Stage, first: boolean, unseen: boolean, moves: number,
 *   hiders: import("./predicates.js").Hiders | null, stats: Row[], acc: Accumulator | null, grads: Grads | null, transfers: Transfer[], numbers: boolean,
 *   lane: number, lanes: number, columns: "keys" | "lanes", hides: (r: number, c: number) => boolean, score: (r: number, c: number) => Known, weight: (r: number, c: number) => Known, entries: ReturnType<typeof import("./entries.js").entriesOf>, zoom: Record<string, Numbers> | null, reads: number, writes: number, readonly decimals: number | undefined,
 * }} Frame
 */
