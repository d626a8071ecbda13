// Who says the texts of the Step page.

import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step.json" with { type: "json" };

export const t = textsOf(texts);
