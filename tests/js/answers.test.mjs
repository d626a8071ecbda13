// Pure functions by their table, answers.test.yaml; no function changes what it is given.

import { test } from "node:test";
import { equal, fixtures } from "./load.mjs";
import * as model from "./model.mjs";

const [[, { claims }]] = fixtures("answers");

/** Without what is undefined. */
const plain = (value) => JSON.parse(JSON.stringify(value));

for (const [claim, functions] of Object.entries(claims))
  test(claim, () => {
    for (const [name, cases] of Object.entries(functions))
      for (const one of cases) {
        const given = plain(one.slice(0, -1));
        const found = model[name](...given);
        equal(plain([...given, found]), one, `${name} of ${JSON.stringify(given)}`);
      }
  });
