// The texts of this room.

import { textsOf } from "../lib/texts.js";
import stored from "../../texts/site.json" with { type: "json" };

export const texts = stored;
export const t = textsOf(stored);
