// The Memory page: where bytes live, how often they travel, when they no longer fit.

import { loadStyles } from "../lib/build.js";
import { mountStory } from "./index.js";
import { height as capacityHeight, paint as capacity } from "./memory_capacity.js";
import { height as masksHeight, paint as masks } from "./memory_masks.js";
import { height as tilesHeight, paint as tiles } from "./memory_tiles.js";
import { height as trafficHeight, paint as traffic } from "./memory_traffic.js";
import { height as tripsHeight, paint as trips } from "./memory_trips.js";
import { height as whereHeight, paint as where } from "./memory_where.js";

/** The painters of its chapters, in the order of Next. @type {Record<string, import("./index.js").Painter>} */
const PAINTERS = {
  where: { paint: where, height: whereHeight },
  trips: { paint: trips, height: tripsHeight },
  traffic: { paint: traffic, height: trafficHeight },
  capacity: { paint: capacity, height: capacityHeight },
  tiles: { paint: tiles, height: tilesHeight },
  masks: { paint: masks, height: masksHeight },
};

/** @type {import("./index.js").Story} */
const STORY = { page: "memory", prefix: "mem-", after: "parallel", painters: PAINTERS };

/** The story alone, where its styles are there already. @param {import("./index.js").Component} component */
export const mountStoryMemory = (component) => mountStory(component, STORY);

/** The one component of this script. @param {unknown} _ @param {import("./index.js").Component} component */
export function mount(_, component) {
  loadStyles("story");
  return mountStoryMemory(component);
}
