// What the pictures of Parallel say themselves.

import { textsOf } from "../lib/texts.js";
import stored from "../../texts/parallel_scripts.json" with { type: "json" };

export const texts = stored;
export const t = textsOf(stored);
