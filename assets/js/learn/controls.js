// The controls of a widget: each is {root, read(), write(value)}, and calls `changed` when the reader moved it.

import { el, set } from "../lib/dom.js";
import { picture } from "./blocks.js";
import { t } from "./texts.js";

const MOST_SEGMENTS = 4;
// For ids
let count = 0;

function ranged(control, changed) {
  const { key, low: min, high: max, step, label } = control;
  const slider = el("input", {
    type: "range",
    class: "fa-scrub",
    min,
    max,
    step,
    "aria-label": label,
  });
  const box = el("input", {
    type: "number",
    min,
    max,
    step: "any",
    "aria-label": t("as_number", { label }),
  });
  const fill = () => {
    slider.style.setProperty(
      "--fa-progress",
      `${max > min ? ((Number(slider.value) - min) / (max - min)) * 100 : 100}%`,
    );
    if (key === "step") set(slider, { "aria-valuetext": t("at", { k: slider.value, n: max }) });
  };
  const write = (value) => {
    box.value = String(value);
    slider.value = String(value);
    fill();
  };
  slider.addEventListener("input", () => {
    box.value = slider.value;
    fill();
    changed();
  });
  box.addEventListener("input", () => {
    // Being typed
    if (box.value === "") return;
    slider.value = box.value;
    fill();
    changed();
  });
  box.addEventListener("change", () => box.value === "" && write(slider.value));
  const root = el("div", { class: "fa-control is-range" }, [
    el("div", { class: "fa-control-head" }, [el("span", { text: label }), box]),
    slider,
  ]);
  return { root, read: () => box.value || slider.value, write };
}

function field(control, changed, attributes) {
  const input = el("input", { ...attributes, id: `fa-learn-${++count}` });
  input.addEventListener(
    "input",
    () => (input.value !== "" || control.kind === "text") && changed(),
  );
  const root = el("div", { class: `fa-control is-${control.kind}` }, [
    el("label", { for: input.id, text: control.label }),
    input,
  ]);
  return {
    root,
    read: () => input.value,
    write: (value) => {
      input.value = String(value);
    },
  };
}

function menu(control, changed) {
  const select = el(
    "select",
    { id: `fa-learn-${++count}` },
    control.choices.map(([value, text]) => el("option", { value, text })),
  );
  select.addEventListener("change", changed);
  const root = el("div", { class: "fa-control is-choice" }, [
    el("label", { for: select.id, text: control.label }),
    select,
  ]);
  return {
    root,
    read: () => select.value,
    write: (value) => {
      select.value = String(value);
    },
  };
}

function segments(control, changed) {
  const name = `fa-learn-${++count}`;
  const inputs = control.choices.map(([value]) => el("input", { type: "radio", name, value }));
  inputs.forEach((input) => input.addEventListener("change", changed));
  const { pictures, choices } = control;
  const labels = choices.map(([, text], k) =>
    el("label", {}, [inputs[k], pictures && picture(pictures[k].split(" ")), el("span", { text })]),
  );
  const root = el("fieldset", { class: `fa-control is-choice${pictures ? " is-pictures" : ""}` }, [
    el("legend", { text: control.label }),
    el("div", { class: pictures ? "fa-choices" : "fa-segments" }, labels),
  ]);
  return {
    root,
    read: () => inputs.find((input) => input.checked)?.value ?? control.value,
    write: (value) =>
      inputs.forEach((input) => {
        input.checked = input.value === String(value);
      }),
  };
}

function toggle(control, changed) {
  const input = el("input", { type: "checkbox", role: "switch" });
  input.addEventListener("change", changed);
  const root = el("label", { class: "fa-control is-toggle" }, [
    input,
    el("span", { text: control.label }),
  ]);
  return {
    root,
    read: () => (input.checked ? "1" : "0"),
    write: (value) => {
      input.checked = String(value) === "1";
    },
  };
}

/** Of what a picture moves there is nothing to see here. */
function drawn() {
  let now = "";
  return {
    root: null,
    read: () => now,
    write: (value) => {
      now = String(value);
    },
  };
}

/** The control that this description asks for. */
export function build(control, changed) {
  if (control.drawn) return drawn();
  const { kind, low: min, high: max, step } = control;
  if (kind === "range") return ranged(control, changed);
  if (kind === "number") return field(control, changed, { type: "number", min, max, step });
  if (kind === "toggle") return toggle(control, changed);
  if (kind === "choice")
    return (control.pictures || control.choices.length <= MOST_SEGMENTS ? segments : menu)(
      control,
      changed,
    );
  return field(control, changed, {
    type: "text",
    maxlength: 400,
    spellcheck: "false",
    autocomplete: "off",
  });
}
