// Your kernel: what the checker found in the file that the app was started with, or a recorded example and the command.

import { loadStyles } from "../lib/build.js";
import { button, el, parseHtml } from "../lib/dom.js";
import { during } from "../lib/pending.js";
import { requestOk, serverUrl } from "../lib/server.js";
import { t } from "./texts.js";

/** @typedef {{live: boolean, checks: number, checking: boolean, headline?: string, sentence?: string, file?: string, problem?: string, place?: string, html?: string}} Verdict */

const POLL_MS = 1000; // a file that is saved shows a second later

/** Make it for the page. @param {import("./index.js").RunFrame} page */
export function makeYoursView(page) {
  /** @type {Verdict | undefined} */
  let data;
  let isLoaded = false;
  const provenance = el("p.fa-story-provenance");
  const place = el("div.fa-yours", {
    tabindex: "0",
    role: "group",
    "aria-label": t("view.yours"),
    "data-testid": "yours",
  });
  const root = el("div.fa-run-record", [el("div.fa-run-above", [provenance]), place]);

  async function show() {
    if (data) say(data);
    if (isLoaded) return;
    isLoaded = true;
    await during("yours", Promise.all([loadStyles("yours"), ask()]));
  }

  /** Ask for the verdict, and again while the view is open and the file may change. */
  async function ask() {
    const found = /** @type {Verdict} */ (await (await requestOk(serverUrl("yours"))).json());
    const isNew = JSON.stringify(found) !== JSON.stringify(data);
    data = found;
    if (isNew) draw(found);
    if (found.live)
      setTimeout(() => {
        if (root.isConnected) void ask().catch(() => undefined);
      }, POLL_MS);
  }

  /** @param {Verdict} verdict */
  function say({ headline, sentence, live, checking, file = "", problem = "" }) {
    if (root.hidden) return;
    page.say(headline ?? t("yours.checking"), checking && !headline ? "" : (sentence ?? ""));
    provenance.textContent = live
      ? t("yours.live", { file, problem })
      : t("yours.recorded", { problem });
  }

  /** @param {Verdict} verdict */
  function draw(verdict) {
    place.replaceChildren(...parseHtml(verdict.html ?? ""));
    place.dataset.checks = String(verdict.checks);
    page.drawBar();
    say(verdict);
  }

  /** Run it beside naive attention and FA-2, on the page's Problem. */
  async function run() {
    const refusal = await page.choose({ methods: "naive,fa2,yours" });
    if (refusal) page.notify(refusal);
    else page.run();
  }

  /** What stands in the bar: how the file is checked again, or how the app is started with one. */
  function remarks() {
    if (!data) return [];
    const { live, place } = data;
    const command = el("code.fa-yours-command", t("yours.command"));
    const onStep = el("a.fa-run-plain", { href: `?${place}`, text: t("yours.step") });
    const again = button(t("yours.run"), run, { class: "fa-run-plain" });
    return [
      ...(live ? [] : [command]),
      el("p", { text: t(live ? "yours.save" : "yours.start") }),
      ...(live ? [again] : []),
      ...(place ? [onStep] : []),
    ];
  }

  return { root, show, remarks };
}
