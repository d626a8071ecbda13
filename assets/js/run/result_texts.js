// What the Run page's result says itself.

import { textsOf } from "../lib/texts.js";
import stored from "../../texts/run_view.json" with { type: "json" };

/** Texts by name: of tabs and views. @type {{tabs: Record<string, string>, views: Record<string, string>}} */
export const texts = stored;
export const t = textsOf(stored);
