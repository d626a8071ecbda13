// The types that the parts of the Step page share; nothing imports this file at run time.

/** @import { Line } from "../model/phases.js" */
/** @import { Way } from "../model/row_view.js" */
/** @import { Frame, Order, Pass, Place, Trace } from "../model/types.js" */
/** @import { Box, LinkedPlayer, OnHead, PaneName, Theme, TileOfPass, View } from "../views/types.js" */

/**
 * Scripts that come when they are first wanted.
 * @typedef {{
 *   video: () => Promise<Pick<typeof import("./video.js"), "mount">>,
 *   masks?: (() => Promise<typeof import("../masks/index.js")>) | null,
 * }} Scripts `masks`: none where no server answers the mask builder
 *
 * What Gradio hands to the page's player.
 * @typedef {{
 *   element: HTMLElement, props: {value: string}, watch: (name: string, act: () => void) => void, trigger: (event: string) => void,
 * } & Scripts} PlayerComponent
 *
 * Where in a Problem a player begins, and where it is; where a race begins, and where it is.
 * @typedef {{step?: number, phase?: string, sel?: string | null, way?: string | null, pass?: Pass}} Position
 * @typedef {{
 *   query: Record<string, string>, pass: Pass | null, step: number, phase: string | null, sel: string | null, way: Way | null,
 * }} PlayerPlace
 * @typedef {{tick?: number, clock?: string | null, pass?: Pass}} RacePosition
 * @typedef {{query: Record<string, string>, pass: Pass | null, tick: number, clock: "bytes" | "tile"}} RacePlace
 *
 * Shows a control, or all of them for "all", beside a button.
 * @typedef {(name: string, button?: HTMLElement) => void} Opens
 * The lines of an algorithm in each language that its code is listed in; of the backward apart.
 * @typedef {Partial<Record<string, Line[]>>} Listing
 * @typedef {Record<Order, unknown> & {backward?: Record<Order, Listing>}} Listings
 *
 * The tiles of a learner's function on a Problem, or why there are none: as /fa/yours/tiles answers.
 * @typedef {{map?: {cells: string, first: [number, number] | null}, refused?: string}} YoursTiles
 * @typedef {(query: string) => Promise<YoursTiles>} Yours
 *
 * @typedef {ReturnType<typeof import("./stage.js").makeStage>} Stage
 * What a player takes. `url` is a trace's address, `visitUrl` that of the numbers of one visit.
 * @typedef {{
 *   url: (query: string, pass: Pass) => URL | string,
 *   listings?: () => Promise<Listings>, visitUrl?: (query: string, step: number, pass: Pass) => URL | string,
 *   onPlace?: (place: PlayerPlace) => void, onHead?: OnHead, onLeave?: () => void,
 *   onCompare?: () => void, onRun?: () => void, controls?: Opens,
 * }} PlayerOptions
 * @typedef {PlayerOptions & {
 *   begins?: RacePosition, onProblem?: (query: string) => void, onTick?: (place: RacePlace) => void, onAlone?: () => void, yours?: Yours,
 * }} StageOptions
 * @typedef {Pick<PlayerOptions, "url" | "controls"> & {
 *   onPlace?: (place: RacePlace) => void, onTab: (name: string) => void, onLeave: () => void, yours?: Yours,
 * }} RaceOptions
 *
 * What a player shows of one pass alone; `first` is the tab that it opens with, `panels` what is in each.
 * @typedef {{
 *   sram: TileOfPass, first: string, panels: Record<string, HTMLElement[]>, layout: (trace: Trace, theme: Theme) => void,
 *   veil: (on: boolean) => void, draw: (trace: Trace, f: Frame, row: number | undefined) => void,
 * }} PassViews
 *
 * What can be pointed at: a player.
 * @typedef {LinkedPlayer & {
 *   focus?: number | null, render: () => void, goTile: (i: number, j: number, takes?: boolean) => void, transport?: {also: (text: string) => void},
 * }} PointedPlayer
 *
 * A place, where the stage stands in the window, and the pane that a phone shows.
 * @typedef {Place & {top: number, pane: PaneName}} Here
 * A block on its way: where it comes from and goes to, its frame, its name, and when.
 * @typedef {{home: Box, seat: Box, frame: View | null, label: string, start: number, end: number, over: number}} Away
 *
 * @typedef {{title: string, text: string, query: Record<string, string>, spot: string, pass: Pass}} Chapter
 * What the tour takes: where it shows a query, what brings a part on screen, where the visitor is.
 * @typedef {{
 *   mount: HTMLElement, show: (query: string) => Promise<unknown>, reveal: (spot: string) => void, chapters: () => Promise<Chapter[]>,
 *   here?: () => string, onChapter?: (chapter: number | null) => void,
 * }} TourOptions
 */
