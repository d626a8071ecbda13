// What the server sends to the Learn page, and what its scripts hand to each other. explainer/learn/blocks.py, content.py, views/learn_blocks.py,
// slides and views/learn_screens.py write it.

/**
 * A number, or as text one that JSON does not know ("∞", "NaN"); null for none.
 * @typedef {number | string | null} Cell
 *
 * @typedef {{type: "html", html: string, words: string}} HtmlBlock `words`: what a screen reader says of it
 * @typedef {{type: "picture", name: string, label: string, words: string, data: any}} PictureBlock `data` is typed by its picture
 * @typedef {HtmlBlock | PictureBlock} Block
 * @typedef {{blocks?: Block[], error?: string}} Answer
 *
 * A control as the server describes it.
 * @typedef {{key: string, label: string, kind: "range" | "choice" | "text" | "toggle", value: string | number,
 *   low: number, high: number, step: number, choices: [string, string][], drawn?: boolean, serves?: [string, string[]]}} Control
 * A control on the page: `root` is null where a picture moves it.
 * @typedef {{root: HTMLElement | null, read: () => string, write: (value: string | number) => void}} ControlView
 * @typedef {Record<string, string | number>} Values by the keys of controls
 * What a picture has of its widget.
 * @typedef {{value: (key: string) => string | undefined, move: (values: Values) => void, label: string}} Api
 *
 * @typedef {[index: number, offered: string[], right: string]} Gap
 * @typedef {{key: string, kind: "choice" | "number" | "order" | "click" | "fill", words: string,
 *   options: [string, string][], answer: any, tolerance?: number, reasons: [string, string], fields?: string[],
 *   gaps: Gap[], run?: string, mistakes?: [number | number[], string, number?][],
 *   notes?: string[][], hint?: string, unit?: string, variants?: Question[]}} Question `answer` is typed by its kind
 * @typedef {{right: boolean, because: string}} Verdict
 * The form of a question: `read` gives what stands in it and `write` puts it back, `text` says it in words; `check` gives a
 * verdict, or {again: what is missing}; `clear` takes away what a verdict marked; `act` is what its button says; `output` is
 * where what it runs is drawn; `atOnce`: on a phone a choice is the answer.
 * @typedef {{body: HTMLElement, read: () => string[], write: (values: string[]) => void, text: () => string,
 *   check: () => Verdict | {again: string}, clear?: () => void, act?: string, output?: HTMLElement, atOnce?: boolean}} Form
 *
 * What the pictures draw, each of the picture of its name.
 * @typedef {{low: number[], high: number[], step: number}} Plane
 * @typedef {{shares: number[], spread: number, top: number}} Spread
 * @typedef {{q: number[], k: number[], plane: Plane, d: number, spread: {many: number, keys: number, reach: number,
 *   ticks: number[], raw: Spread, scaled: Spread}}} ArrowsData
 * @typedef {{name: string, size: string, bytes: number, per_s: number, rate: string, kind: string}} MemoryLevel
 * @typedef {[name: string, bytes: number]} Part
 * @typedef {{n: number, levels: MemoryLevel[], square: number, matrix: number, square_text: string, matrix_text: string,
 *   tiled: boolean, setting: string, bars: {name: string, s: number, time: string, words: string, on: boolean}[],
 *   sm: {count: number, shared: string, shared_bytes: number, registers: string, registers_bytes: number,
 *     in_shared: Part[], in_registers: Part[], words: string[]}}} PyramidData
 *
 * @typedef {{keys: string[], moved: Record<string, string>, lessons: Record<string, [string, string]>,
 *   paths: Record<string, string[]>, starts: [string, string][], after: string, ends: Record<string, [string, string]>,
 *   sessions: Record<string, {title: string, stops: string[]}>, end: string, printed: string[]}} Outline `lessons`: key → [number, title]; `starts`: [question of the self-test, lesson to start at], `after` for a reader who knows all
 */

export {};
