// Who says the texts that a player shows of the backward alone.

import { sayer } from "../lib/texts.js";
import told from "../../texts/step_backward.json" with { type: "json" };

export const sayBackward = sayer(told);
