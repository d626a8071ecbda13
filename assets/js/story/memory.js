// The Memory page: where bytes live, how often they travel, when they no longer fit.

import { loadStyles } from "../lib/build.js";
import { mountStory } from "./index.js";
import { capacity } from "./memory_capacity.js";
import { masks } from "./memory_masks.js";
import { tiles } from "./memory_tiles.js";
import { traffic } from "./memory_traffic.js";
import { trips } from "./memory_trips.js";
import { where } from "./memory_where.js";

/** Its painters are its chapters, in the order of Next. @type {import("./index.js").Story} */
const STORY = {
  page: "memory",
  prefix: "mem-",
  after: "parallel",
  painters: { where, trips, traffic, capacity, tiles, masks },
};

/** The story alone, where its styles are there already. @param {import("./index.js").Component} component */
export const mountStoryMemory = (component) => mountStory(component, STORY);

/** The one component of this script. @param {unknown} _ @param {import("./index.js").Component} component */
export function mount(_, component) {
  loadStyles("story");
  return mountStoryMemory(component);
}
