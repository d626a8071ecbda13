// A finger that wipes to one side, far enough and flat enough to be meant.

const FAR = 48; // px

/** Calls `act` for a swipe on any of these nodes: 1 to the left, which brings what is on the right, or -1.
 * @param {HTMLElement[]} nodes @param {(by: 1 | -1) => void} act */
export function onSwipe(nodes, act) {
  /** @type {Touch} */
  let from;
  for (const node of nodes) {
    node.addEventListener("touchstart", ({ touches }) => void (from = touches[0]), {
      passive: true,
    });
    node.addEventListener(
      "touchend",
      ({ changedTouches: [touch] }) => {
        const [x, y] = [touch.clientX - from.clientX, touch.clientY - from.clientY];
        if (Math.abs(x) >= FAR && Math.abs(x) >= 2 * Math.abs(y)) act(x < 0 ? 1 : -1);
      },
      { passive: true },
    );
  }
}
