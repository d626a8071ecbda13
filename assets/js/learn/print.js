// Print: the handout's two pages, or every screen of the course below each other.

import { all, el } from "../lib/dom.js";
import { during } from "../lib/pending.js";
import { ENTRANCE } from "./router.js";
import { Screen } from "./lesson.js";

/** Prints what is asked for once every widget of it has answered. @param {"handout" | "all"} what */
export function printPages(learn, what) {
  return during("print", what === "all" ? everything(learn) : handout(learn));
}

async function handout(learn) {
  await learn.screen.wake();
  learn.root.classList.add("is-handout");
  window.addEventListener("afterprint", () => learn.root.classList.remove("is-handout"), {
    once: true,
  });
  window.print();
}

async function everything(learn) {
  const { router, progress } = learn;
  const keys = router.outline.keys.filter((key) => key !== ENTRANCE);
  const texts = await Promise.all(keys.map((key) => router.html(key)));
  const all = el("div", { class: "fa-printed" });
  learn.root.append(all);
  const before = progress.listeners;
  for (const html of texts.filter(Boolean)) {
    const place = el("div");
    place.innerHTML = html;
    const node = place.firstElementChild;
    for (const one of all(node, "[id]")) one.removeAttribute("id"); // they stand on the page already
    for (const fold of all(node, "details")) fold.open = true;
    all.append(node);
    const screen = new Screen(node, {
      progress,
      router,
      outline: router.outline,
      inHall: () => false,
    });
    screen.claims?.all(true);
    await screen.wake();
  }
  learn.root.classList.add("is-whole");
  window.addEventListener(
    "afterprint",
    () => {
      all.remove();
      learn.root.classList.remove("is-whole");
      progress.listeners = before;
    },
    { once: true },
  );
  window.print();
}
