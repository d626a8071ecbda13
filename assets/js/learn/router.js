// Which screen of the Learn page is shown: the entrance, a lesson, what stands behind. Each is fetched once, the next ones
// before they are wanted; the address names it, Back leads to the one before, and a tab remembers it.

import { buildUrl } from "../lib/build.js";
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

/** @typedef {ReturnType<typeof makeRouter>} Router */

export const ENTRANCE = "entrance";

const isNamed = readAddress("page") === "learn"; // when the app was opened: so the address names the screen as well
const readLesson = () => lessonOf(window.location.search);

/** Make the router of a course. @param {Outline} outline @param {(key: string, html: string, move: Move) => void} show called when a screen has come */
export function makeRouter(outline, show) {
  let current = "";
  /** The HTML of screens; null where it could not be fetched. @type {Map<string, Promise<string | null>>} */
  const screens = new Map();
  window.addEventListener(
    "popstate",
    () => readAddress("page") === "learn" && follow(readLesson()),
  );
  listen("fa:page", (name) => name === "learn" && queueMicrotask(writeAddress));
  listen("fa:lesson", follow);

  function start() {
    const key = readLesson() ?? (isNamed ? null : tabStorage.get(LEARN_SCREEN));
    return open(keyOf(key), {});
  }

  /** Opens the screen of this name. @param {string | null} name */
  function follow(name) {
    open(keyOf(name), { moved: true });
  }

  /** The screen of this name, of an older one, or the entrance. @param {string | null} name */
  function keyOf(name) {
    const { keys, moved } = outline;
    return name && keys.includes(name) ? name : (moved[name ?? ""] ?? ENTRANCE);
  }

  /** A screen's HTML. @param {string} key */
  function html(key) {
    const found = screens.get(key) ?? fetch(key);
    screens.set(key, found);
    return found;
  }

  /** @param {string} key */
  async function fetch(key) {
    try {
      const answer = await request(buildUrl(`learn/${key}.html`));
      if (answer.ok) return answer.text();
    } catch {
      // no network
    }
    screens.delete(key);
    return null;
  }

  /** Goes to another screen: Back leads to this one. @param {string} key @param {Move} [move] */
  function go(key, move = {}) {
    if (key === current) return;
    const path = readAddress("path");
    open(key, { moved: true, ...move });
    // A lecture's list stays from one of its screens to another
    address.push({
      page: "learn",
      lesson: key === ENTRANCE ? null : key,
      part: null,
      path: listOf(path).includes(key) ? path : null,
    });
  }

  /** @param {string} key @param {Move} move */
  function open(key, move) {
    current = key;
    tabStorage.set(LEARN_SCREEN, key);
    return during("screen", load(key, move));
  }

  /** @param {string} key @param {Move} move */
  async function load(key, move) {
    const found = await html(key);
    if (key !== current) return; // another one was wanted meanwhile
    show(key, found ?? `<p class="fa-fine">${t("lost")}</p>`, move);
    writeAddress();
    const fetchNear = () => {
      const all = slides();
      const at = all.indexOf(key);
      if (at > 0) all.slice(Math.max(1, at - 1), at + 2).forEach(html);
    };
    if (window.requestIdleCallback) window.requestIdleCallback(fetchNear);
    else setTimeout(fetchNear, 300);
  }

  /** Lets the address say which screen this is. */
  function writeAddress() {
    if (current && isOnScreen("learn"))
      address.write({ lesson: current === ENTRANCE ? null : current });
  }

  /** The slides of a path or a session: the map, its stops, the end; none of another name. @param {string | null} path */
  function listOf(path) {
    const { paths, sessions, end } = outline;
    const stops = paths[path ?? ""] ?? sessions[path ?? ""]?.stops;
    return stops ? [ENTRANCE, ...stops, end] : [];
  }

  /** What a lecture turns through: what the address names, else the whole course. */
  function slides() {
    const { lessons, end } = outline;
    const list = listOf(readAddress("path"));
    return list.includes(current) ? list : [ENTRANCE, ...Object.keys(lessons), end];
  }

  return {
    outline,
    start,
    go,
    keyOf,
    html,
    slides,
    /** The screen that is shown, or on its way. */
    get key() {
      return current;
    },
  };
}
