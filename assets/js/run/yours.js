// Your kernel: what the checker found in the file that the app was started with, or a recorded example and the command.

import { loadStyles } from "../lib/build.js";
import { button, el, parseHtml } from "../lib/dom.js";
import { during } from "../lib/pending.js";
import { requestOk, serverUrl } from "../lib/server.js";
import { t } from "./texts.js";

/** @typedef {{live: boolean, checks: number, checking: boolean, headline?: string, sentence?: string, file?: string, problem?: string, place?: string, html?: string}} Verdict */

const POLL_MS = 1000; // a file that is saved shows a second later

export class YoursView {
  /** @type {Verdict | undefined} */
  data;
  isLoaded = false;

  /** @param {import("./index.js").RunFrame} page */
  constructor(page) {
    this.page = page;
    this.provenance = el("p.fa-story-provenance");
    this.place = el("div.fa-yours", { tabindex: "0", "data-testid": "yours" });
    this.root = el("div.fa-run-record", [el("div.fa-run-above", [this.provenance]), this.place]);
  }

  async show() {
    if (this.data) this.say();
    if (!this.isLoaded) {
      this.isLoaded = true;
      void loadStyles("yours");
      await during("yours", this.ask());
    }
  }

  /** Ask for the verdict, and again while the view is open and the file may change. */
  async ask() {
    const data = /** @type {Verdict} */ (await (await requestOk(serverUrl("yours"))).json());
    const isNew = JSON.stringify(data) !== JSON.stringify(this.data);
    this.data = data;
    if (isNew) this.draw();
    if (this.data?.live)
      setTimeout(() => {
        if (this.root.isConnected) void this.ask().catch(() => undefined);
      }, POLL_MS);
  }

  say() {
    const { headline, sentence, live, checking } = /** @type {Verdict} */ (this.data);
    if (this.root.hidden) return;
    this.page.say(headline ?? t("yours.checking"), checking && !headline ? "" : (sentence ?? ""));
    this.provenance.textContent = live
      ? t("yours.live", { file: this.data?.file ?? "", problem: this.data?.problem ?? "" })
      : t("yours.recorded", { problem: this.data?.problem ?? "" });
  }

  draw() {
    const { html, checks } = /** @type {Verdict} */ (this.data);
    this.place.replaceChildren(...parseHtml(html ?? ""));
    this.place.dataset.checks = String(checks);
    this.page.drawBar();
    this.say();
  }

  /** Run it beside naive attention and FA-2, on the page's Problem. */
  async run() {
    const refusal = await this.page.choose({ methods: "naive,fa2,yours" });
    if (refusal) this.page.notify(refusal);
    else this.page.run();
  }

  /** What stands in the bar: how the file is checked again, or how the app is started with one. */
  remarks() {
    if (!this.data) return [];
    const { live, place } = this.data;
    const command = el("code.fa-yours-command", t("yours.command"));
    const onStep = el("a.fa-run-plain", { href: `?${place}`, text: t("yours.step") });
    const run = button(t("yours.run"), () => this.run(), { class: "fa-run-plain" });
    return [
      ...(live ? [] : [command]),
      el("p", { text: t(live ? "yours.save" : "yours.start") }),
      ...(live ? [run] : []),
      ...(place ? [onStep] : []),
    ];
  }
}
