// Capacity: of each card two bars on one linear scale, the longest sequence with standard attention and with the fused kernel, and an
// N to hold against them.

import { playhead, scale, slider, widthOf } from "../lib/chart.js";
import { hit, line, path, rect, stroke, text, tipped, titled, wrapped } from "../lib/svg_canvas.js";

/** @import { Drawn, Paper, Pen } from "../lib/svg_canvas.js" */
/** @import { Scene } from "./index.js" */
/** @typedef {{key: string, name: string, room: string, chosen: boolean, longest: [number, number], texts: [string, string], tip: string}} Card */
/** @typedef {{cards: Card[], most: number, names: {standard: string, fused: string}, remark: string}} Picture */
/** @typedef {[words: string, look?: string][]} Words */

/** @param {Scene<Picture>} scene @param {Paper} paper @param {Pen<Scene>} pen @returns {Drawn} */
export function capacity({ picture, beats, beat, at, go, choose }, paper, pen) {
  const { cards, most, names, remark } = picture;
  const { n, flag, fits } = beat;
  const { width, narrow, big, type, small } = paper;
  const size = big ? type : type + 1;
  const under = small(0.9);
  const left = narrow ? 0 : size * 12.1;
  const top = narrow ? 64 : size * 1.9;
  const foot = 26;
  const pitch = narrow ? 58 : (paper.height - top - foot) / cards.length;
  const bar = narrow ? 16 : Math.min(pitch * 0.42, 26);
  const bottom = top + pitch * cards.length;
  if (narrow) paper.used = bottom + foot;
  const x = scale([0, most], [left, width - (narrow ? 4 : size * 6.4)]);
  const here = x(n);

  const rows = cards.map(({ key, name, room, chosen, longest, texts, tip }, k) => {
    const [standard, fused] = longest;
    const over = top + k * pitch + (pitch - bar) / 2 - under * 0.8; // its name on a phone
    const y = over + under * 1.6; // of the longer bar
    const isOut = n > fused;
    const look = `${chosen ? "bold" : isOut ? "" : "semi"} ${isOut ? "quiet" : "ink"}`;
    const isNamed = chosen || narrow;
    /** @param {boolean} isShown @param {string} words @returns {[string, string]} */
    const also = (isShown, words) => [isShown ? `  ${words}` : "", "quiet"];
    const bars = [
      rect(
        left,
        y,
        x(fused) - left,
        bar,
        "accent",
        { opacity: isOut ? 0.22 : chosen ? 1 : 0.5 },
        3,
      ),
      rect(left, y - under * 1.27, Math.max(1.5, x(standard) - left), under, "quiet"),
      !isOut && path(`M${here} ${y - 4}V${y + bar + 4}`, stroke("ink", 2)),
    ];
    const knob = {
      key,
      group: "card",
      label: name,
      text: `${names.standard} ${texts[0]}, ${names.fused} ${texts[1]}`,
      chosen,
      press: () => choose({ card: key }),
    };
    const words = [
      hit(0, over, width, pitch),
      line(
        0,
        narrow ? over : y - under * 0.25,
        [[name, look], also(narrow, room)],
        narrow ? 14 : size,
      ),
      !narrow && !big && text(0, y + under * 1.1, room, under, "quiet"),
      line(
        left + Math.max(10, x(standard) - left + 6),
        y - under * 0.4,
        [[texts[0], n > standard ? "quiet" : "semi"], also(isNamed, names.standard)],
        under,
        "halo",
      ),
      narrow
        ? text(width, over, texts[1], 14, `end ${look}`)
        : line(
            x(fused) + 10,
            y + bar / 2 + size * 0.35,
            [[texts[1], look], also(chosen, names.fused)],
            size,
            "halo",
          ),
    ];
    return { bars, drawn: tipped(pen.knob(knob, words), tip) };
  });

  const isRight = here + widthOf(big ? flag : `${flag}  ${fits}`, size) > width;
  const beside = Math.min(size * 22, width - x(cards[2].longest[1]) - 140);
  return [
    rows.map(({ bars }) => bars),
    path(`M${here} ${narrow ? top : 4}V${bottom + 6}`, stroke("quiet")),
    rows.map(({ drawn }) => drawn),
    !narrow &&
      !big &&
      beside > 160 &&
      wrapped(width, top + pitch * 1.45, remark, beside, small(1), "end quiet halo"),
    narrow
      ? [text(0, 16, flag, 15, "bold"), wrapped(0, 36, fits, width, 13.5, "quiet")]
      : titled(
          here + (isRight ? -12 : 12),
          size * 1.05,
          flag,
          big ? "" : fits,
          type,
          isRight ? "end" : "",
        ),
    slider(
      pen,
      {
        key: "n",
        label: "N",
        text: `${flag} ${fits}`,
        at,
        places: beats.map((one) => x(one.n)),
        go,
      },
      playhead(here, top, bottom + 6, bottom + 14, "ink", "", []),
    ),
  ];
}
