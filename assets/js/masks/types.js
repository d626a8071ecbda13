// What the server offers to the mask builder (explainer/web/mask_map.py), for who reads and for the type checker: types only,
// nothing imports this file at run time.

/** What is edited, as the address has it. @typedef {{mask: string, score: string, sink: string}} Fields */
/**
 * `numbers`: what each of a predicate's numbers is, null where there may be any; `start`: those that its chip begins with.
 * @typedef {{name: string, words: string, formula: string, start: string, numbers: string[] | null, low: number, high: number}} Predicate
 * `label`: what its radio button is called, and `start` the number that it begins with; "" for none, null where it has no button.
 * @typedef {{name: string, label: string, words: string, formula: string, start: string | null}} Modification of the scores
 * A published model's mask. `bits`: the visible scores of 16 tokens, of which it keeps this `share`.
 * @typedef {Fields & {key: string, title: string, models: string, says: string, source: string, bits: string, share: number}} Preset
 * @typedef {{terms: number, predicates: number}} Most terms of a mask, predicates of a term
 * @typedef {{most: Most, predicates: Predicate[], scores: Modification[], presets: Preset[]}} Palette
 */

export {};
