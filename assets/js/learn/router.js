// Which screen of the Learn page is shown: the entrance, a lesson, what stands behind. Each is fetched once, the next ones
// before they are wanted; the address names it, Back leads to the one before, and a tab remembers it.

import { buildUrl, fetchJson } from "../lib/build.js";
import { listen } from "../lib/events.js";
import { during } from "../lib/pending.js";
import { request } from "../lib/server.js";
import { LEARN_SCREEN, tabStorage } from "../lib/storage.js";
import { lessonOf } from "../model/query.js";
import { address, readAddress } from "../site/address.js";
import { isOnScreen } from "../site/pages.js";
import { t } from "./texts.js";

/** @import { Outline } from "./types.js" */
/** How a screen was reached: by a link or Back (`moved`), from the one after it (`back`).
 * @typedef {{moved?: boolean, back?: boolean}} Move */

export const ENTRANCE = "entrance";

const PAGE = "page";
const isNamed = readAddress(PAGE) === "learn"; // when the app was opened: so the address names the screen as well
const readLesson = () => lessonOf(window.location.search);

export class Router {
  /** @param {(key: string, html: string, move: Move) => void} show called when a screen has come */
  constructor(show) {
    this.show = show;
    this.key = "";
    /** The HTML of screens; null where it could not be fetched. @type {Map<string, Promise<string | null>>} */
    this.screens = new Map();
    /** @type {Outline} */
    this.outline = {
      keys: [],
      moved: {},
      lessons: {},
      paths: {},
      starts: [],
      after: "",
      ends: {},
      sessions: {},
      end: "",
      printed: [],
    };
    window.addEventListener(
      "popstate",
      () => readAddress(PAGE) === "learn" && this.follow(readLesson()),
    );
    listen("fa:page", (name) => name === "learn" && queueMicrotask(() => this.writeAddress()));
    listen("fa:lesson", (key) => this.follow(key));
  }

  async start() {
    this.outline = await fetchJson("course");
    const key = readLesson() ?? (isNamed ? null : tabStorage.get(LEARN_SCREEN));
    await this.open(this.keyOf(key), {});
  }

  /** Opens the screen of this name, once the course is known. @param {string | null} name */
  follow(name) {
    if (this.outline.keys.length) this.open(this.keyOf(name), { moved: true });
  }

  /** The screen of this name, of an older one, or the entrance. @param {string | null} name */
  keyOf(name) {
    const { keys, moved } = this.outline;
    return name && keys.includes(name) ? name : (moved[name ?? ""] ?? ENTRANCE);
  }

  /** A screen's HTML. @param {string} key */
  html(key) {
    const html = this.screens.get(key) ?? this.fetch(key);
    this.screens.set(key, html);
    return html;
  }

  /** @param {string} key */
  async fetch(key) {
    try {
      const answer = await request(buildUrl(`learn/${key}.html`));
      if (answer.ok) return answer.text();
    } catch {
      // no network
    }
    this.screens.delete(key);
    return null;
  }

  /** Goes to another screen: Back leads to this one. @param {string} key @param {Move} [move] */
  go(key, move = {}) {
    if (key === this.key) return;
    const path = readAddress("path");
    this.open(key, { moved: true, ...move });
    // A lecture's list stays from one of its screens to another
    address.push({
      page: "learn",
      lesson: key === ENTRANCE ? null : key,
      part: null,
      path: this.list(path).includes(key) ? path : null,
    });
  }

  /** @param {string} key @param {Move} move */
  open(key, move) {
    this.key = key;
    tabStorage.set(LEARN_SCREEN, key);
    return during("screen", this.load(key, move));
  }

  /** @param {string} key @param {Move} move */
  async load(key, move) {
    const html = await this.html(key);
    if (key !== this.key) return; // another one was wanted meanwhile
    this.show(key, html ?? `<p class="fa-fine">${t("lost")}</p>`, move);
    this.writeAddress();
    const fetchNear = () => this.near(key).forEach((other) => this.html(other));
    if (window.requestIdleCallback) window.requestIdleCallback(fetchNear);
    else setTimeout(fetchNear, 300);
  }

  /** Lets the address say which screen this is. */
  writeAddress() {
    if (this.key && isOnScreen("learn"))
      address.write({ lesson: this.key === ENTRANCE ? null : this.key });
  }

  /** The screens before and after. @param {string} key */
  near(key) {
    const slides = this.slides();
    const at = slides.indexOf(key);
    return at < 0 || key === ENTRANCE
      ? []
      : [slides[at - 1], slides[at + 1]].filter((other) => other && other !== ENTRANCE);
  }

  /** The slides of a path or a session: the map, its stops, the end; none of another name. @param {string | null} path */
  list(path) {
    const { paths, sessions, end } = this.outline;
    const stops = paths[path ?? ""] ?? sessions[path ?? ""]?.stops;
    return stops ? [ENTRANCE, ...stops, end] : [];
  }

  /** What a lecture turns through: what the address names, else the whole course. */
  slides() {
    const { lessons, end } = this.outline;
    const list = this.list(readAddress("path"));
    return list.includes(this.key) ? list : [ENTRANCE, ...Object.keys(lessons), end];
  }
}
