// Where the browser's pure modules lie; every test takes them from here.

export * from "../../assets/player/axis.js";
export * from "../../assets/player/decode.js";
export * from "../../assets/player/model.js";
export * from "../../assets/player/on_chip.js";
export * from "../../assets/player/phases.js";
export * from "../../assets/player/query.js";
export * from "../../assets/player/questions.js";
export * from "../../assets/player/race_clock.js";
export * from "../../assets/player/tiles.js";
export { read as readWarpSteps } from "../../assets/player/warp_steps.js";
