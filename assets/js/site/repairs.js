// Two repairs of Gradio's fields, for the whole page.

// Enter takes what was typed into a menu of numbers; Gradio would take the first of its list that holds the digits.
const typed = new WeakSet();
document.addEventListener("input", ({ target }) => target.closest?.(".fa-sizes") && typed.add(target));
document.addEventListener("keydown", (event) => {
  if (!typed.has(event.target)) return;
  if (event.key.startsWith("Arrow")) typed.delete(event.target);
  if (event.key !== "Enter") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  typed.delete(event.target);
  event.target.blur();
}, { capture: true });

// Gradio counts a key as input to a text, but not what is pasted, dropped, deleted or composed.
let counted = false;
document.addEventListener("keypress", ({ key }) => { counted = key !== "Enter"; }, { capture: true });
document.addEventListener("input", ({ target }) => {
  if (!counted && target.matches?.(".fa-own textarea")) target.dispatchEvent(new KeyboardEvent("keypress", { bubbles: true, key: " " }));
  counted = false;
});
