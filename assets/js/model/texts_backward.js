// Who says the texts that a player shows of the backward alone.

import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step_backward.json" with { type: "json" };

export const tBackward = textsOf(texts);
