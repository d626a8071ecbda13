// What the Run page says.

import { textsOf } from "../lib/texts.js";
import stored from "../../texts/run_scripts.json" with { type: "json" };

/** Texts by name. @type {Record<"quantities" | "passes" | "masks" | "columns" | "short", Record<string, string>>} */
export const texts = stored;
export const t = textsOf(stored);
