// The page that plays without a server: everything it shows came with it.

import { Player } from "./player.js";
import { PROBLEM_KEYS } from "../model/query.js";
import { Race } from "./race.js";
import { Terms } from "../site/terms.js";
import { Tour } from "./tour.js";

/** One name for one Problem, whatever the order of its keys. */
function nameOf(query) {
  const params = new URLSearchParams(query);
  return PROBLEM_KEYS.filter((key) => params.has(key)).map((key) => `${key}=${params.get(key)}`).join("&");
}

/** The page: <main id="stage">, and as JSON in #content {traces: {name: base64}, listings, chapters | null, glossary,
 * start: query string}. */
export function start() {
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  const mount = document.getElementById("stage");
  const content = JSON.parse(document.getElementById("content").textContent);
  new Terms(() => Promise.resolve(content.glossary));
  const url = (query) => {
    const data = content.traces[nameOf(query)];
    return data ? `data:application/octet-stream;base64,${data}` : "data:,";
  };
  const now = { query: "", racing: false };
  const player = new Player(mount, {
    url,
    onCompare: () => compare(now.query, 0, "bytes"),
    onPlace: ({ query }) => (now.query = new URLSearchParams(query).toString()),
    listings: () => Promise.resolve(content.listings),
  });
  const race = new Race({
    url,
    onLeave: () => {
      alone();
      player.load(now.query);
    },
  });

  function alone() {
    now.racing = false;
    race.transport.stop();
    player.park(false);
    mount.replaceChildren(player.root);
  }

  function compare(query, tick, clock) {
    now.query = query;
    now.racing = true;
    player.park(true);
    mount.replaceChildren(race.root);
    race.load(query, { tick, clock });
    race.root.focus({ preventScroll: true });
  }

  function show(search) {
    const params = new URLSearchParams(search);
    const step = Number(params.get("step") ?? 0);
    if (params.get("mode") === "compare") return compare(search, step, params.get("clock"));
    if (now.racing) alone();
    player.load(search, { step, phase: params.get("phase") ?? undefined });
    player.root.focus({ preventScroll: true });
  }

  if (content.chapters) {
    const tour = new Tour({ chapters: () => Promise.resolve(content.chapters), show, onChapter: () => {} });
    document.body.append(tour.root);
    document.addEventListener("keydown", (event) => {
      if (!tour.open || event.key !== " " || event.target.closest("input, textarea, select, button")) return;
      event.preventDefault();
      event.stopPropagation();
      tour.go(tour.at + 1);
    }, { capture: true });
    tour.go(0);
  } else show(content.start);
}
