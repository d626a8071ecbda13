// A finger that wipes to one side, far enough and flat enough to be meant.

const FAR = 48; // px

/** `act` hears of a swipe on any of these nodes: 1 to the left, which brings what is on the right, or -1. */
export function onSwipe(nodes, act) {
  let from = null;
  const begun = ({ touches: [touch] }) => (from = touch);
  const ended = ({ changedTouches: [touch] }) => {
    const [x, y] = [touch.clientX - from.clientX, touch.clientY - from.clientY];
    if (Math.abs(x) >= FAR && Math.abs(x) >= 2 * Math.abs(y)) act(x < 0 ? 1 : -1);
  };
  for (const node of nodes) {
    node.addEventListener("touchstart", begun, { passive: true });
    node.addEventListener("touchend", ended, { passive: true });
  }
}
