// Words for a slide: a formula, a number with its unit and a name with its number do not break at a line's end.

const FORMULA = /\S+(?: [=−+·×÷/∘<>≤≥≈→] (?:\(?(?:log2?|exp) )?\S+)+/g;
const AFTER_SIGN = /(?<=[=−+·×÷/∘<>≤≥≈→]) /g; // the last place of a line that a long formula may not end at
const BEFORE_UNIT =
  /(?<=\d) (?=(?:%|[KMGT]iB|[GT]FLOP(?:\/s)?|TB\/s|[mµ]s|bits?|bytes?)(?:[.,;:?! ]|$))/g;
const MOST = 28; // characters that stay together
const SPACE = "\u00a0";

/** The words with spaces and hyphens at which no line ends. @param {string} words */
export const unbroken = (words) =>
  words
    .replace(BEFORE_UNIT, SPACE)
    .replace(FORMULA, (found) => found.replace(found.length > MOST ? AFTER_SIGN : / /g, SPACE))
    .replace(/-(?=\d)/g, "\u2011");
