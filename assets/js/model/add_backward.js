// Gives model/passes.js what only the backward says; imported where all of it is wanted.

import { explainBackward } from "./explain_backward.js";
import { backward } from "./passes.js";
import { PHRASES } from "./phases_backward.js";

Object.assign(backward, { phrases: PHRASES, explain: explainBackward });
