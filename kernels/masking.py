"""Evaluate masks inside a kernel, as spec/masks.py does outside.

MASK is a text known when the kernel is compiled: an absent mask leaves no instruction. It is a
mask's own text, with the index of a table in TABLES instead of numbers that may be many (tables.py
makes both). Keys and rows are in the keys' own counting: query i is row
i + Nk − Nq, which is below 0 for a query that stands before the first key.
"""

import triton

from .triton_internals import tl


@triton.constexpr_function
def plain(MASK):
    """Return whether the visited blocks of this mask are a range, not a list in a table."""
    return MASK == "full" or MASK == "causal" or MASK == "spans"


@triton.constexpr_function
def grows(MASK):
    """Return whether later rows see more keys, so that the last row blocks should run first."""
    return MASK == "causal" or MASK == "spans"


@triton.constexpr_function
def count(TEXT, SIGN):
    """Return the number of parts that the sign separates."""
    return len(TEXT.split(SIGN))


@triton.constexpr_function
def part(TEXT, SIGN, AT):
    """Return one of the parts that the sign separates."""
    return TEXT.split(SIGN)[AT]


@triton.constexpr_function
def name(TEXT):
    """Return the word before the colon of a text such as "window:256,0"."""
    return TEXT.split(":")[0]


@triton.constexpr_function
def number(TEXT, AT):
    """Return a number after the colon of a text such as "window:256,0"."""
    found = TEXT.split(":")[1].split(",")[AT]
    return int(found) if found.lstrip("-").isdigit() else float(found)


@triton.jit
def visible(keys, rows, Nk, MASK: tl.constexpr, TABLES):
    """Return which scores are visible by any term of the union; keys and rows broadcast."""
    if count(MASK, "@") == 2:  # a part of the scores: its shift, and where its positions end
        shift = TABLES[number(part(MASK, "@", 1), 0)]
        rows, keys, Nk = rows + tl.load(shift), keys + tl.load(shift + 1), tl.load(shift + 2)
    UNION: tl.constexpr = part(MASK, "@", 0)
    found = in_term(keys, rows, Nk, part(UNION, "|", 0), TABLES)
    for term in tl.static_range(1, count(UNION, "|")):
        found = found | in_term(keys, rows, Nk, part(UNION, "|", term), TABLES)
    return found


@triton.jit
def in_term(keys, rows, Nk, TERM: tl.constexpr, TABLES):
    """Return which scores are visible by all predicates of the term."""
    found = in_predicate(keys, rows, Nk, part(TERM, "&", 0), TABLES)
    for one in tl.static_range(1, count(TERM, "&")):
        found = found & in_predicate(keys, rows, Nk, part(TERM, "&", one), TABLES)
    return found


@triton.jit
def in_predicate(keys, rows, Nk, TEXT: tl.constexpr, TABLES):
    """Return which scores are visible by one predicate of spec/predicates.py."""
    NAME: tl.constexpr = name(TEXT)
    if NAME == "full":
        return True
    elif NAME == "causal":
        return keys <= rows
    elif NAME == "window":
        return (rows - keys <= number(TEXT, 0)) & (keys - rows <= number(TEXT, 1))
    elif NAME == "dilated":
        return (rows - keys) % number(TEXT, 0) == 0
    elif NAME == "prefix":
        return keys < number(TEXT, 0)
    elif NAME == "global":
        return (keys < number(TEXT, 0)) | (rows < number(TEXT, 0))
    elif NAME == "chunk":
        return (rows >= 0) & (rows // number(TEXT, 0) == keys // number(TEXT, 0))
    elif NAME == "spans":  # start and stop of the keys that each row sees
        begin = tl.load(TABLES[0] + rows * 2, mask=rows < Nk, other=0)
        stop = tl.load(TABLES[0] + rows * 2 + 1, mask=rows < Nk, other=0)
        return (keys >= begin) & (keys < stop)
    elif NAME == "document":  # a table of the document that each position lies in
        table = TABLES[number(TEXT, 0)]
        mine = tl.load(table + rows, mask=(rows >= 0) & (rows < Nk), other=-1)
        return mine == tl.load(table + keys, mask=keys < Nk, other=-2)
    else:  # tables of the strip of rows and of the strip of keys of each position, then of
        # what is visible where they cross: nothing in strip 0
        tl.static_assert(NAME == "block", "masking does not have this mask")
        inside = (rows >= 0) & (rows < Nk)
        strip = tl.load(TABLES[number(TEXT, 0)] + rows, mask=inside, other=0)
        across = tl.load(TABLES[number(TEXT, 1)] + keys, mask=keys < Nk, other=0)
        return tl.load(TABLES[number(TEXT, 2)] + strip + across) != 0


@triton.jit
def key_range(first_row, last_row, Nk, MASK: tl.constexpr):
    """Return full, stop, in 0 … Nk: a block of these rows sees no key from stop on, and each of its
    rows sees all keys before full, which need no mask."""
    if MASK == "causal":
        return tl.maximum(tl.minimum(first_row + 1, Nk), 0), tl.maximum(last_row + 1, 0)
    else:
        return Nk, Nk


@triton.jit
def spans_of(SPANS, b, Nq, Nk):
    """Return the table of batch b's spans (start, stop), which has row 0 in the keys' counting at
    its beginning."""
    return SPANS + (b * Nq - (Nk - Nq)) * 2


@triton.jit
def span_range(table, rows, row_ok, Nk):
    """Return begin, whole, full, stop, in 0 … Nk: no row of the block sees a key before begin or
    from stop on, and each of its rows sees all keys whole … full − 1."""
    start = tl.load(table + rows * 2, mask=row_ok, other=0)
    end = tl.minimum(tl.load(table + rows * 2 + 1, mask=row_ok, other=0), Nk)
    begin = tl.min(tl.where(start < end, start, Nk), 0)
    stop = tl.max(tl.where(start < end, end, 0), 0)
    whole = tl.max(tl.where(row_ok, start, 0), 0)
    return begin, whole, tl.min(tl.where(row_ok, end, Nk), 0), stop


@triton.jit
def query_range(first_key, last_key, Nq, Nk, MASK: tl.constexpr):
    """Return start, full, in 0 … Nq: no query before start sees a key of the block, and all from
    full on see each of its keys."""
    if MASK == "causal":
        full = tl.maximum(tl.minimum(last_key + Nq - Nk, Nq), 0)
        return tl.maximum(first_key + Nq - Nk, 0), full
    else:
        return 0, 0


@triton.jit
def listed(block, TABLES):
    """Return start, stop of the places in the mask's list that this block's tiles have."""
    return tl.load(TABLES[0] + block), tl.load(TABLES[0] + block + 1)


@triton.jit
def visited(at, TABLES):
    """Return the block at this place, and whether some scores of the tile are masked."""
    entry = tl.load(TABLES[1] + at)
    return entry // 2, entry % 2 == 1
