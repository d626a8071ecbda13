// What Run takes of the Step page.

import { address } from "./address.js";
import { problemAndPassOf } from "../model/query.js";

/** The Problem on the Step page and its pass, as the address has them. */
export function stepProblem() {
  address.flush();
  return { player: problemAndPassOf(window.location.search) };
}
