// What the page still waits for, by name: <html data-pending="address tip">, and "" when it rests.
// Tests wait for that, and so may whoever embeds the page.

/** How often each name is waited for. @type {Map<string, number>} */
const names = new Map();

/** Waits for one more of this name, or (by = −1) for one less. @param {string} name @param {number} by */
export function count(name, by) {
  names.set(name, (names.get(name) ?? 0) + by);
  document.documentElement.dataset.pending = [...names.keys()]
    .filter((key) => names.get(key))
    .join(" ");
}

/** Waits for this name alone, or no longer. @param {string} name @param {boolean} on */
export const pending = (name, on) => count(name, Number(on) - (names.get(name) ?? 0));

/** Counts a promise until it is settled, and returns it. @template T @param {string} name @param {Promise<T>} promise */
export function during(name, promise) {
  const over = () => count(name, -1);
  count(name, 1);
  promise.then(over, over);
  return promise;
}

/** Resolves once nothing of this name is waited for, and what came has been laid out. @param {string} name */
export async function atRest(name) {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  do await frame();
  while (names.get(name));
  await frame();
}
