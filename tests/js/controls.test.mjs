// What the pages' controls show and what follows from it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ask,
  changeValues,
  enlarge,
  follow,
  followAddress,
  isStepProblem,
  start,
} from "./model.mjs";

const equal = assert.deepEqual;
const PLAIN = {
  data: "rising",
  seed: 0,
  n: 16,
  d: 8,
  br: 4,
  bc: 4,
  mask: "causal",
  order: "fa2",
  dtype: "fp32",
  text: "",
  gain: 1,
};
const UNSAID = { score: "none", sink: "", hq: 1, hk: 1, head: 0, dropout: 0, rope: 0 };
const QUERY = "n=16&d=8&br=4&bc=4&mask=causal&order=fa2&dtype=fp32&data=rising&seed=0&gain=1";
const CSV = "1, 2\n3, 4\n5, 6\n\n1, 2\n3, 4\n5, 6\n\n1;2\n3;4\n5;6";
const answer = (requested, plain = PLAIN) => JSON.stringify({ requested, plain });

test("the controls ask for what they show; blocks shrink with the sequence", () => {
  equal(ask(PLAIN), { ...PLAIN, player: QUERY });
  const small = ask({ ...PLAIN, n: 3, br: 8, bc: 0 });
  equal([small.br, small.bc, new URLSearchParams(small.player).get("br")], [3, 1, "3"]);
  assert.equal(
    new URLSearchParams(ask({ ...PLAIN, data: "own", text: "1&2" }).player).get("text"),
    "1&2",
  );
  assert.equal(ask({ ...PLAIN, ...UNSAID }).player, QUERY);
  const heads = (hq, hk, head) => ask({ ...PLAIN, hq, hk, head }).player.slice(QUERY.length);
  assert.equal(heads(8, 2, 5), "&hq=8&hk=2&head=5");
  assert.equal(heads(6, 4, 6), "&hq=6&hk=3&head=5", "that divide them, and one that there is");
  assert.equal(heads(1, 8, 3), "");
  assert.ok(!ask({ ...PLAIN, text: "left over" }).player.includes("text"));
});

test("the controls follow what the player shows, and ask for the same", () => {
  const sizes = [512, 1024];
  const typed = { ...PLAIN, data: "sentence", text: "the cat", gain: 2 };
  equal(follow({ player: QUERY }, { sizes }), { ...PLAIN, ...UNSAID, large: 0 });
  equal(follow({ player: ask(typed).player }, { sizes }), { ...typed, ...UNSAID, large: 0 });
  equal(follow({ player: QUERY.replace("n=16", "n=512") }, { sizes }), {
    ...PLAIN,
    ...UNSAID,
    n: 512,
    large: 512,
  });
});

test("the player is asked again only where the controls differ from the address", () => {
  const asked = { ...PLAIN, n: 32, br: 8 };
  equal(followAddress({ answer: answer(asked), player: "untouched", ...PLAIN }), {
    ...asked,
    player: "untouched",
  });
  const found = followAddress({ answer: answer(asked), player: "untouched", ...PLAIN, n: 6 });
  equal([found.n, found.br, found.player], [6, 6, ask({ ...asked, n: 6 }).player]);
});

test("a length beyond the slider brings a head and tiles, and none without", () => {
  const large = enlarge({ large: 4096, ...PLAIN, data: "own", text: CSV });
  equal([large.n, large.d, large.br, large.bc], [4096, 64, 128, 64]);
  equal(Object.fromEntries(new URLSearchParams(large.player)).data, "random");
  equal(enlarge({ large: 0, ...PLAIN, n: 4096 }).player, QUERY);
});

test("the sizes follow the data", () => {
  const picks = (data, more = {}) => start({ ...PLAIN, ...more, data }, { chosen: true });
  const types = (text, more = {}) => start({ ...PLAIN, ...more, text }, { chosen: false });
  const sizes = ({ data, n, d, br, bc }) => [data, n, d, br, bc];
  equal(sizes(picks("sentence")), ["sentence", 6, 8, 2, 2]);
  equal(sizes(picks("rising", { n: 6, br: 2, bc: 2 })), ["rising", 16, 8, 4, 4]);
  equal(sizes(picks("random", { n: 20 })), ["random", 20, 8, 4, 4]);
  const own = picks("own");
  equal(sizes(own), ["own", 3, 2, 2, 2]);
  equal(own.text.split("\n\n").length, 3);
  equal(sizes(types("the cat sat")), ["sentence", 3, 8, 2, 2]);
  equal(sizes(types(CSV)), ["own", 3, 2, 2, 2]);
  equal(sizes(types("")), ["rising", 16, 8, 4, 4]);
  for (const all of [own, types(CSV), picks("random")]) equal(all.player, ask(all).player);
});

test("the Run page uses text that is typed", () => {
  const now = { data: "random", n: "64", d: "8", br: "auto", bc: "16", text: "" };
  const own = { data: "own", n: "3", d: "2", br: "auto", bc: "3", text: CSV };
  equal(changeValues(now, { text: "the cat" }), { ...now, data: "sentence", text: "the cat" });
  equal(changeValues(now, { text: CSV }), { ...now, ...own });
  equal(changeValues(own, { text: "the cat" }), { ...own, data: "sentence", text: "the cat" });
  assert.equal(
    changeValues(own, { text: "1, 2\n3, x" }).data,
    "own",
    "its cell is refused, in words",
  );
  assert.equal(changeValues(now, { data: "own" }).text.split("\n\n").length, 3, "an example");
});

test("the Step page's Problem needs no place of its own in the address", () => {
  const query = {
    ...Object.fromEntries(new URLSearchParams(QUERY)),
    text: null,
    gain: null,
    b: "1",
    h: "1",
    methods: "fa2,naive",
  };
  const address = `?${QUERY.replace("&gain=1", "")}&step=3`;
  const heads = `${address}&hq=8&hk=2&head=5&dropout=0.1&rope=10000`;
  const same = { ...query, h: "8", hk: "2", head: "5", dropout: "0.1", rope: "10000" };
  for (const [run, where] of [
    [query, address],
    [same, heads],
    [{ ...query, h: "4", hk: null }, `${address}&hq=4&hk=4`],
  ])
    assert.ok(isStepProblem(run, where), JSON.stringify([run, where]));
  for (const [run, where] of [
    [{ ...query, n: "8" }, address],
    [{ ...query, methods: "fa2" }, address],
    [same, address],
    [query, `${address}&pass=backward`],
  ])
    assert.ok(!isStepProblem(run, where), JSON.stringify([run, where]));
});
