// The Parallel page: which program runs where and when, and how warps and parts share a row.

import { loadStyles } from "../lib/build.js";
import { mountStory } from "./index.js";
import { decoding } from "./parallel_decoding.js";
import { devices } from "./parallel_devices.js";
import { schedule } from "./parallel_schedule.js";
import { sms } from "./parallel_sms.js";
import { warps } from "./parallel_warps.js";

/** Its painters are its chapters, in the order of Next. @type {import("./index.js").Story} */
const STORY = {
  page: "parallel",
  prefix: "par-",
  after: "learn",
  recorded: "schedule",
  painters: { sms, schedule, warps, decoding, devices },
};

/** The story alone, where its styles are there already. @param {import("./index.js").Component} component */
export const mountStoryParallel = (component) => mountStory(component, STORY);

/** The one component of this script. @param {unknown} _ @param {import("./index.js").Component} component */
export function mount(_, component) {
  loadStyles("story");
  return mountStoryParallel(component);
}
