// The types that views and the player's parts share; nothing imports this file at run time.

/** @import { Direction, Frame, Known, Trace } from "../model/types.js" */
/** @import { linksAt } from "../model/links.js" */

/**
 * A ramp of 256 colours: as CSS, as bytes, and whether digits on it are white.
 * @typedef {{css: string[], rgba: Uint8ClampedArray, dark: boolean[]}} Ramp
 * @typedef {Record<string, Ramp>} Ramps by tensor
 * @typedef {{
 *   Q: Ramp, K: Ramp, V: Ramp, O: Ramp, L: Ramp, dQ: Ramp, dK: Ramp, dV: Ramp, dO: Ramp, dS: Ramp, M: Ramp, S: Ramp, P: Ramp,
 *   empty: string, done: string, hatch: string, paper: string, big: boolean, unit: number,
 * }} Theme `big`: presentation mode; `unit`: what a pixel at 1280 × 720 is here
 * @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} Context2D
 *
 * What a matrix shows. `values`: undefined is not there yet, −∞ is masked and written as `masked`; `used`: rows and columns
 * of a ragged tile. `now` says in one line what it is: the same is not drawn again.
 * @typedef {(r: number, c: number) => Known} CellValues
 * @typedef {{
 *   values: CellValues, low: number, high: number, ramp: Ramp, theme: Theme, used?: number[] | null, masked?: number,
 *   filled?: boolean, block?: string | number, now?: string,
 * }} Drawing
 * @typedef {{x: number, y: number, width: number, height: number}} Box px
 * @typedef {ReturnType<typeof linksAt>} LinksAt
 * @typedef {Record<string, {x: number, width: number}>} Columns where the numbers of the rows stand
 * @typedef {ReturnType<typeof import("./motion/layer.js").makeLayer>} Layer
 * @typedef {((query: Record<string, string>) => void) | undefined} OnHead
 * @typedef {{x: number, top: number, bottom: number}} Edge
 * @typedef {"hbm" | "sram" | "rows"} PaneName
 *
 * A line of the tile's panel: a row's name and its numbers, by the names of its columns.
 * @typedef {Record<string, HTMLElement>} RowLine
 * A block strip on the map: where its blocks lie, in one piece and by their pages, in which of them, and what it draws of them.
 * @typedef {{
 *   place: (start: number, stop: number) => Box, places: (start: number, stop: number) => Box[], table: number[] | undefined, bright: SVGElement, done: SVGElement, blocks: SVGElement[], labels: SVGElement[],
 *   count: number, segments: SVGElement[][],
 * }} Mark
 * @typedef {import("./sram.js").Sram | import("./sram_backward.js").SramBackward} TileOfPass
 * What links light up: a player or a lane of a race.
 * @typedef {{root: HTMLElement, hbm: ReturnType<typeof import("./hbm.js").makeHbm>, sram: TileOfPass, trace: Trace, frame: Frame}} LinkedPlayer
 * An empty place for a card of numbers; `under`: over the columns of this frame, `beside`: beside the rows of it.
 * @typedef {Box & {under?: View | null, beside?: View | null}} Corner
 * What moves: a frame that becomes another one, piece by piece; bytes on their way; when.
 * @typedef {import("./frame.js").MatrixFrame} View
 * @typedef {(alpha?: number, wide?: number, high?: number) => void} Brush
 * @typedef {{old: Brush, fresh: Brush}} Brushes
 * @typedef {{r: number, c: number, box: number[], still: boolean, at?: number}} Piece
 * @typedef {{
 *   kind: "grow" | "flip" | "fade", phase: string, start: number, ms: number, before: Required<Drawing>, after: Required<Drawing>,
 *   cut?: {list: Piece[], down: number, across: number}, old?: OffscreenCanvas, fresh?: OffscreenCanvas,
 * }} Turn
 * @typedef {{start?: number, ms: number} & KeyframeAnimationOptions} Timing
 * @typedef {{start: number, ms: number, alone: boolean}} RowTime
 * @typedef {{
 *   home: Box, seat: Box, points: import("../model/motion.js").Point[], picture?: Node | null, name: string, unit: number, start?: number,
 *   scale?: number, stays?: boolean, ghosts?: number,
 * }} Passage
 *
 * What a transport moves.
 * @typedef {{go: (step: number) => void, beat: () => boolean | void, act: (action: string) => void}} Playable
 * @typedef {{label: string, choices: [string, string][], hint: string, onChoice?: () => void}} Grain
 */
