// What a lane's visit moves: each tensor's bytes between the map and the bar that counts them.

import { allFlights, flightName, straight } from "../model/motion.js";
import { fly } from "../views/motion/flights.js";
import { Layer, isStill } from "../views/motion/layer.js";

/** @import { Lane } from "./lane.js" */
/** @import { Direction, Frame } from "../model/types.js" */

/** @type {Direction[]} */
const DIRECTIONS = ["read", "write"];
const NAME_FROM = 14; // px of a block below which it flies without its name

export class LaneMotion {
  /** @param {Lane} lane */
  constructor(lane) {
    this.lane = lane;
    this.layer = new Layer(lane.root);
  }

  stop() {
    this.layer.stop();
  }

  /** From what the lane showed before to what it shows now, if that takes at most `most` ms. @param {number} most */
  show(most) {
    const { hbm, meter, before, now, root } = this.lane;
    const list = allFlights(now);
    const ms = Math.max(0, ...list.map((one) => one.start + one.ms));
    if (!ms || ms > most || before.step === now.step || isStill() || !root.checkVisibility())
      return;
    this.layer.begin(ms, [
      hbm.map,
      ...Object.values(meter.bars).flatMap(({ read, write }) => [read, write]),
    ]);
    for (const flight of list) {
      const { tensor, op, blocks } = flight;
      const home = this.layer.place(hbm.home(tensor, blocks, this.layer.box(hbm.map)));
      const seat = this.layer.place(
        meter.end(tensor, op, (/** @type {Element} */ node) => this.layer.box(node)),
      );
      const name = Math.min(home.width, home.height) >= NAME_FROM ? flightName(flight) : "";
      const points = straight(home, seat);
      fly(this.layer, flight, { home, seat, points, name, unit: 0.5, ghosts: 0 });
    }
    this.grow(before, now, ms);
  }

  /** @param {Frame} before @param {Frame} now @param {number} ms */
  grow(before, now, ms) {
    for (const [tensor, counts] of Object.entries(now.perTensor))
      DIRECTIONS.forEach((op, k) => {
        const was = before.perTensor[tensor][k];
        if (was === counts[k] || !this.lane.meter.bars[tensor]) return;
        this.layer.animate(
          this.lane.meter.bars[tensor][op],
          { transform: [`scaleX(${(was / counts[k]).toFixed(4)})`, "none"] },
          { ms, easing: "ease-in" },
        );
      });
  }
}
