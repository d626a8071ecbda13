// What the story pages say themselves.

import { textsOf } from "../lib/texts.js";
import stored from "../../texts/stories.json" with { type: "json" };

/** Texts by name: of chapters and pages. @type {{chapters: Record<string, string>, next_page: Record<string, string>}} */
export const texts = stored;
export const t = textsOf(stored);
