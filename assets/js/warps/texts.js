// The texts of this room.

import { textsOf } from "../lib/texts.js";
import texts from "../../texts/parallel_scripts.json" with { type: "json" };

export const t = textsOf(texts);
