// What the page still waits for, by name: <html data-pending="address tip">, and "" when it rests.
// Tests wait for that, and so may whoever embeds the page.

const names = new Map(); // name → how often

/** One more of this name is waited for, or (by = −1) one less. */
export function count(name, by) {
  names.set(name, (names.get(name) ?? 0) + by);
  document.documentElement.dataset.pending = [...names.keys()]
    .filter((key) => names.get(key))
    .join(" ");
}

/** This name alone is waited for, or no longer. */
export const pending = (name, on) => count(name, Number(on) - (names.get(name) ?? 0));

/** Counts a promise until it is settled, and gives it back. */
export function during(name, promise) {
  const over = () => count(name, -1);
  count(name, 1);
  promise.then(over, over);
  return promise;
}
