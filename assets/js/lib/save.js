// The current frame as a picture: the player's own DOM and styles inside an SVG, canvases as images.

/** Every rule that can apply to the player, from the sheets that are loaded. */
function styles() {
  const rules = [];
  for (const sheet of document.styleSheets) {
    if (!/\/(all|tokens|player|terms)\.css$/.test(sheet.href ?? "") && sheet.href) continue;
    try {
      for (const rule of sheet.cssRules) rules.push(rule.cssText);
    } catch {
      // a foreign sheet: not ours, not needed
    }
  }
  return rules.join("\n");
}

/** Canvases lose their pixels when cloned: an image takes the place of each. */
function withPictures(root) {
  const copy = root.cloneNode(true);
  const drawn = [...root.querySelectorAll("canvas")];
  [...copy.querySelectorAll("canvas")].forEach((canvas, k) => {
    const image = document.createElement("img");
    image.setAttribute("src", drawn[k].toDataURL("image/png"));
    image.setAttribute("style", canvas.getAttribute("style") ?? "");
    image.className = "fa-drawn";
    canvas.replaceWith(image);
  });
  const slid = [...root.querySelectorAll("input")];
  [...copy.querySelectorAll("input")].forEach((input, k) => input.setAttribute("value", slid[k].value));
  const chosen = [...root.querySelectorAll("select")];
  [...copy.querySelectorAll("select")].forEach((select, k) => {
    for (const option of select.options) option.toggleAttribute("selected", option.value === chosen[k].value);
  });
  return copy;
}

const LINE = 28; // px under a frame, for the line that says of what kind its numbers are

/** Of the frame on screen and of that line. */
function sizeOf(root) {
  const { width, height } = root.getBoundingClientRect();
  return { width, height, whole: height + LINE };
}

/** The frame as SVG text, of the size that it has on screen; under it of what `kind` its numbers are. */
export function frameSvg(root, kind) {
  const { width, height, whole } = sizeOf(root);
  const copy = withPictures(root);
  copy.setAttribute("style", `width:${width}px;height:${height}px;min-height:0`);
  const box = document.createElement("div");
  box.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  box.className = document.body.classList.contains("dark") ? "dark" : "";
  const paper = getComputedStyle(document.body).backgroundColor;
  const font = getComputedStyle(root).fontFamily.replaceAll('"', "'");
  box.setAttribute("style", `background:${paper};font-family:${font}`);
  const sheet = document.createElement("style");
  sheet.textContent = `${styles()}\n* { box-sizing: border-box; }\n.fa-map .fa-drawn { position: absolute; }\nbutton { font: inherit; }`;
  const line = document.createElement("div");
  line.setAttribute("style", `height:${LINE}px;padding:0 12px;color:${getComputedStyle(root).color};font-size:13px;line-height:${LINE}px`);
  line.textContent = kind;
  box.append(sheet, copy, line);
  const body = new XMLSerializer().serializeToString(box);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}"><foreignObject width="100%" height="100%">${body}</foreignObject></svg>`;
}

/** The frame as a PNG blob at twice the screen's size. */
export async function framePng(root, kind) {
  const svg = frameSvg(root, kind);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const { width, whole } = sizeOf(root);
  canvas.width = Math.round(width * 2);
  canvas.height = Math.round(whole * 2);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Hands a file to the browser's downloads. */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** Saves what is shown as "png" or "svg", with the words for the `kind` of its numbers. */
export async function saveFrame(root, ending, name, kind) {
  const blob = ending === "png" ? await framePng(root, kind) : new Blob([frameSvg(root, kind)], { type: "image/svg+xml" });
  download(blob, `${name}.${ending}`);
}
