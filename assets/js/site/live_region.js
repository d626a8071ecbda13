// What is said to those who listen: one sentence at a time, in a place that is there from the start.

/** @param {string | null | undefined} text */
export function announce(text) {
  const place = document.querySelector(".fa-live");
  if (place && text) place.textContent = text;
}
