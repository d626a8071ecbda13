// Who says the texts of the Step page.

import { sayer } from "../lib/texts.js";
import texts from "../../texts/step.json" with { type: "json" };

export const t = sayer(texts);
