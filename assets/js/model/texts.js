// The texts of the Step page, and the two answers that many of its questions have.

import { phrasesOf, textsOf } from "../lib/texts.js";
import texts from "../../texts/step.json" with { type: "json" };

/** @import { Frame } from "./types.js" */

export const t = textsOf(texts);
export const phrase = phrasesOf(texts);
export const YES_NO = [t("ask.yes"), t("ask.no")];

/** The phrase of a phase in a kernel of its own: that of this kernel, or of any; null where there is none. @param {Frame} f */
export function phraseOfStage({ pass, phase, stage }) {
  if (stage === null) return null;
  const any = `${pass === "backward" ? "b." : ""}${phase}.stage`;
  const key = [`${any}.${stage}`, any].find((name) => name in texts);
  return key ? phrase(/** @type {keyof typeof texts & `${string}.stage${string}`} */ (key)) : null;
}
