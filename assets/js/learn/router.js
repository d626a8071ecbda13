// Which screen of the Learn page is shown: the entrance, a lesson, what stands behind. Each is fetched once, the next ones
// before they are wanted; the address names it, Back leads to the one before, and a tab remembers it.

import { address } from "../site/address.js";
import { isOnScreen } from "../site/pages.js";
import { listen } from "../lib/events.js";
import { buildUrl, fetchJson } from "../lib/build.js";
import { request } from "../lib/server.js";
import { during } from "../lib/pending.js";
import { lessonOf } from "../model/query.js";
import { LEARN_SCREEN, tabStorage } from "../lib/storage.js";
import { t } from "./texts.js";

export const ENTRANCE = "entrance";

const PAGE = "page";
export const ofAddress = (key) => new URLSearchParams(window.location.search).get(key);
const named = ofAddress(PAGE) === "learn"; // when the app was opened: so the address names the screen as well
const inAddress = () => lessonOf(window.location.search);

export class Router {
  /** @param show called with (key, html, how) when a screen has come */
  constructor(show) {
    this.show = show;
    this.screens = new Map();
    window.addEventListener(
      "popstate",
      () =>
        this.outline &&
        ofAddress(PAGE) === "learn" &&
        this.lead(this.keyOf(inAddress()), { moved: true }),
    );
    listen("fa:page", (name) => name === "learn" && queueMicrotask(() => this.note()));
    listen("fa:lesson", (key) => this.outline && this.lead(this.keyOf(key), { moved: true }));
  }

  async start() {
    this.outline = await fetchJson("course");
    await this.lead(this.keyOf(inAddress() ?? (named ? null : tabStorage.get(LEARN_SCREEN))), {});
  }

  /** The screen of this name, of an older one, or the entrance. */
  keyOf(name) {
    const { keys, moved } = this.outline;
    return keys.includes(name) ? name : (moved[name] ?? ENTRANCE);
  }

  /** A screen's HTML. */
  html(key) {
    if (!this.screens.has(key)) this.screens.set(key, this.ask(key));
    return this.screens.get(key);
  }

  async ask(key) {
    try {
      const answer = await request(buildUrl(`learn/${key}.html`));
      if (answer.ok) return answer.text();
    } catch {
      // no network
    }
    this.screens.delete(key);
    return null;
  }

  /** To another screen: Back leads to this one. */
  go(key, how = {}) {
    if (key === this.key) return undefined;
    const path = ofAddress("path");
    const done = this.lead(key, { moved: true, ...how });
    // A lecture's list is kept from one of its screens to another
    address.push({
      page: "learn",
      lesson: key === ENTRANCE ? null : key,
      part: null,
      path: this.list(path).includes(key) ? path : null,
    });
    return done;
  }

  lead(key, how) {
    this.key = key;
    tabStorage.set(LEARN_SCREEN, key);
    return during("screen", this.shown(key, how));
  }

  async shown(key, how) {
    const html = await this.html(key);
    if (key !== this.key) return; // another one was asked for meanwhile
    this.show(key, html ?? `<p class="fa-fine">${t("lost")}</p>`, how);
    this.note();
    const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 300));
    idle(() => this.near(key).forEach((other) => this.html(other)));
  }

  /** The address says which screen this is. */
  note() {
    if (this.key && isOnScreen("learn"))
      address.write({ lesson: this.key === ENTRANCE ? null : this.key });
  }

  /** The screens before and after. */
  near(key) {
    const way = this.slides();
    const at = way.indexOf(key);
    return at < 0 || key === ENTRANCE
      ? []
      : [way[at - 1], way[at + 1]].filter((other) => other && other !== ENTRANCE);
  }

  /** The slides of a path or a session: the map, its stops, the end; none of another name. */
  list(path) {
    const { paths, sessions, end } = this.outline;
    const stops = paths[path] ?? sessions[path]?.stops;
    return stops ? [ENTRANCE, ...stops, end] : [];
  }

  /** What a lecture turns through: what the address names, else the whole course. */
  slides() {
    const { lessons, end } = this.outline;
    const list = this.list(ofAddress("path"));
    return list.includes(this.key) ? list : [ENTRANCE, ...Object.keys(lessons), end];
  }
}
