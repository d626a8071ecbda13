// The few DOM helpers that the views share. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

export const el = (tag, attributes = {}, children = []) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, children = []) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

let wasDark = false;

/** A lecture hall, which is light; who leaves it has the own colours back. */
export function setPresenting(on) {
  const { classList } = document.body;
  if (on) wasDark ||= classList.contains("dark");
  classList.toggle("fa-present", on);
  if (on || wasDark) classList.toggle("dark", !on);
  if (!on) wasDark = false;
}

/** Writes only what changed: an unchanged attribute or text costs no style recalculation. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") {
      if (node.textContent !== value) node.textContent = value;
    } else if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

/** A card: title, one quiet remark, body. */
export function card(name, title, remark, body) {
  const note = el("span", { class: "fa-remark", text: remark });
  const head = el("div", { class: "fa-card-head" }, [el("h2", { text: title }), note]);
  return {
    root: el("section", { class: `fa-card fa-${name}`, "aria-label": title }, [head, ...body]),
    head,
    note,
  };
}
