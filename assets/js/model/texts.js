// Who says the texts of the Step page.

import { sayer } from "../lib/texts.js";
import told from "../../texts/step.json" with { type: "json" };

export const say = sayer(told);
