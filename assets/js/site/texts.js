// The texts of this room.

import { textsOf } from "../lib/texts.js";
import texts from "../../texts/site.json" with { type: "json" };

export const t = textsOf(texts);
