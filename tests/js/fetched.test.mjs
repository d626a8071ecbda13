// A busy server is asked again when it says; what it refuses is its sentence.

import { afterEach, test } from "node:test";
import { requestOk } from "../../assets/js/lib/server.js";
import { equal } from "./load.mjs";

const { fetch } = globalThis;
afterEach(() => void (globalThis.fetch = fetch));

/** The server's answers in turn: [status, Retry-After]. Returns what was told, and asked again. */
async function against(...answers) {
  const told = [];
  globalThis.fetch = async () => {
    const [status, after] = answers.shift();
    return new Response(JSON.stringify({ error: `Sentence ${status}.` }), {
      status,
      headers: after ? { "Retry-After": String(after) } : {},
    });
  };
  const answer = requestOk(
    "/",
    undefined,
    (sentence) => told.push(sentence),
    async (seconds) => void told.push(seconds),
  );
  return [
    await answer.then(
      ({ status }) => status,
      (error) => error.message,
    ),
    told,
    answers.length,
  ];
}

test("a busy server is asked again after the seconds that it says, twice", async () => {
  const busy = [503, 3];
  equal(await against([200]), [200, [], 0]);
  equal(await against(busy, [200]), [200, ["Sentence 503.", 3], 0]);
  equal(await against(busy, [503, 5], [503, 1], [200]), [
    "Sentence 503.",
    ["Sentence 503.", 3, "Sentence 503.", 5],
    1,
  ]);
});

test("what is refused, or busy for long, is said and not asked again", async () => {
  for (const answer of [[400], [500, 2], [503], [503, 60]])
    equal(await against(answer, [200]), [`Sentence ${answer[0]}.`, [], 1]);
});
