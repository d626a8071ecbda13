// Who says the texts of the questions, and the two answers that those of either pass have.

import { sayer } from "../lib/texts.js";
import told from "../../texts/step_predict.json" with { type: "json" };

export const sayPredict = sayer(told);
export const YES_NO = [sayPredict("ask.yes"), sayPredict("ask.no")];
