// Tables as files: what a spreadsheet takes for a formula is text, and numbers are numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { equal } from "./load.mjs";
import { columns, csv, formatColumn } from "./model.mjs";

const cells = (...values) =>
  csv({ rows: [Object.fromEntries(values.map((value, k) => [`k${k}`, value]))] })
    .split("\n")
    .slice(1)
    .join("\n")
    .slice(0, -1);

test("what begins like a formula begins with an apostrophe", () => {
  for (const text of ["=1+1", "+SUM(A1)", "-2+3", "@x", "\tx", "=cmd|' /C calc'!A0"])
    assert.equal(cells(text), `'${text}`);
  assert.equal(cells("\rx"), `"'\rx"`);
  assert.equal(cells('=HYPERLINK("http://x","y")'), `"'=HYPERLINK(""http://x"",""y"")"`);
});

test("negative numbers stay numbers", () =>
  assert.equal(
    cells(-3, -1.5e-7, "-3", "+2.50", "-1e-3", -Infinity),
    "-3,-1.5e-7,-3,+2.50,-1e-3,-Infinity",
  ));

test("all else is as it was", () =>
  assert.equal(cells("a=b", "x,y", null, "1-2"), 'a=b,"x,y",,1-2'));

test("tables as text", () => {
  const rows = [
    { a: 1, b: 'x,"y"' },
    { a: null, c: "two\nlines" },
  ];
  equal(columns(rows), ["a", "b", "c"]);
  assert.equal(csv({ rows }), 'a,b,c\n1,"x,""y""",\n,,"two\nlines"\n');
  assert.equal(csv({ rows, table: [{ a: 2 }] }), "a\n2\n");
  equal(formatColumn([1234.5678901, 0.5, null, undefined, "x"]), [
    "1,234.568",
    "0.500",
    "–",
    "–",
    "x",
  ]);
});
