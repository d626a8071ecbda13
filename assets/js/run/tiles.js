// A kernel's tiles as the template tile_map lays them out: pointer and arrow keys choose one, which is described beside them.

import { all, get, set } from "../lib/dom.js";
import { ARROWS } from "../lib/keys.js";

/** Make the maps in a place answer. @param {HTMLElement} place @param {(step: number) => void} openStep opens the step of a tile on the Step page */
export function wireTiles(place, openStep) {
  for (const map of all(place, ".fa-run-tiles")) wireMap(map, openStep);
}

/** @param {HTMLElement} map @param {(step: number) => void} openStep */
function wireMap(map, openStep) {
  const tiles = all(map, "[data-tile]");
  const columns = Number(get(map, "[data-columns]").dataset.columns);
  const remark = get(map, ".fa-run-tile p");
  const link = get(map, ".fa-run-tile button");
  let chosen = tiles.find(({ ariaPressed }) => ariaPressed === "true") ?? tiles[0];

  /** @param {HTMLElement} tile */
  function choose(tile) {
    set(chosen, { "aria-pressed": "false", tabindex: -1 });
    set(tile, { "aria-pressed": "true", tabindex: 0 });
    set(remark, { text: tile.dataset.tip });
    link.hidden = !tile.dataset.step;
    chosen = tile;
  }

  function open() {
    openStep(Number(chosen.dataset.step));
  }

  /** The next tile in this direction that is not skipped. @param {number} down @param {number} right */
  function nextTile(down, right) {
    const placeOf = (/** @type {HTMLElement} */ { dataset }) => {
      const k = Number(dataset.tile);
      return [Math.floor(k / columns), k % columns];
    };
    const [i, j] = placeOf(chosen);
    const found = tiles.filter((tile) => {
      const [row, column] = placeOf(tile);
      return down ? column === j && (row - i) * down > 0 : row === i && (column - j) * right > 0;
    });
    return down + right > 0 ? found[0] : found.at(-1);
  }

  for (const tile of tiles)
    tile.addEventListener("click", () =>
      tile === chosen && tile.dataset.step ? open() : choose(tile),
    );
  link.addEventListener("click", open);
  map.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow || event.target === link) return;
    event.preventDefault();
    event.stopPropagation();
    const next = nextTile(...arrow);
    if (!next) return;
    choose(next);
    next.focus();
  });
  if (chosen) choose(chosen);
}
