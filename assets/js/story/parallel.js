// The Parallel page: which program runs where and when, and how warps and parts share a row.

import { loadStyles } from "../lib/build.js";
import { mountStory } from "./index.js";
import { height as decodingHeight, paint as decoding } from "./parallel_decoding.js";
import { height as devicesHeight, paint as devices } from "./parallel_devices.js";
import { height as scheduleHeight, paint as schedule } from "./parallel_schedule.js";
import { height as smsHeight, paint as sms } from "./parallel_sms.js";
import { height as warpsHeight, paint as warps } from "./parallel_warps.js";

/** The painters of its chapters, in the order of Next. @type {Record<string, import("./index.js").Painter>} */
const PAINTERS = {
  sms: { paint: sms, height: smsHeight },
  schedule: { paint: schedule, height: scheduleHeight },
  warps: { paint: warps, height: warpsHeight },
  decoding: { paint: decoding, height: decodingHeight },
  devices: { paint: devices, height: devicesHeight },
};

/** @type {import("./index.js").Story} */
const STORY = {
  page: "parallel",
  prefix: "par-",
  after: "learn",
  recorded: "schedule",
  painters: PAINTERS,
};

/** The story alone, where its styles are there already. @param {import("./index.js").Component} component */
export const mountStoryParallel = (component) => mountStory(component, STORY);

/** The one component of this script. @param {unknown} _ @param {import("./index.js").Component} component */
export function mount(_, component) {
  loadStyles("story");
  return mountStoryParallel(component);
}
