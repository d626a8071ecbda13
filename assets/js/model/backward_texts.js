// Gives model/passes.js what only the backward says; imported where all of it is wanted.

import { explainBackward } from "./explain_backward.js";
import { backward } from "./passes.js";
import { SENTENCES } from "./phases_backward.js";

Object.assign(backward, { sentences: SENTENCES, explain: explainBackward });
