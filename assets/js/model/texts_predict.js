// Who says the texts of the questions, and the two answers that those of either pass have.

import { textsOf } from "../lib/texts.js";
import texts from "../../texts/step_predict.json" with { type: "json" };

export const tPredict = textsOf(texts);
export const YES_NO = [tPredict("ask.yes"), tPredict("ask.no")];
