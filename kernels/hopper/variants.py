"""Masks by a table of rows, scores and sinks in the Hopper kernel, in Gluon.

The tables are `tables.Tables`: they have the keys start … stop − 1 that a row sees.
"""
# ruff: noqa: SIM102 — one `if` at compile time, one on the GPU

from .gluon import constant, gl, gluon
from .parts import mask_intervals, tile_at
from .tables import WIDTH

LOG2E = constant(1.4426950408889634)
STRIDE = constant(WIDTH)


@gluon.jit
def tile_in(TILES, code, Tr, BH, SECTION):
    """Return the table's entry of the tile of this code (of any tile for a code beyond the last),
    and its head bh. The queue hands out tiles in the table's order."""
    back, bh = tile_at(gl.minimum(code, Tr * BH - 1), Tr, BH, SECTION, "queue")
    return TILES + (Tr - 1 - back) * STRIDE, bh


@gluon.jit
def rows_of(SPANS, SLOPES, inner, row0, ahead, h, whole, plan: gl.constexpr, BY_ROW: gl.constexpr):
    """Return the arguments of `modify_and_mask` for 64 rows from row0 on, at row0 + ahead."""
    spans = SPANS + 2 * row0
    parameter = inner
    if plan.score == "alibi":
        parameter = gl.load(SLOPES + h)
    if plan.has_spare_registers:
        spans = _spans(spans, BY_ROW)
    return spans, whole, row0 + ahead, parameter


@gluon.jit
def _spans(spans, BY_ROW: gl.constexpr):
    """Load start and stop of 64 rows."""
    rows = spans + 2 * gl.arange(0, 64, BY_ROW)
    return gl.load(rows), gl.load(rows + 1)


@gluon.jit
def modify_and_mask(S, n0, own, MASK: gl.constexpr, plan: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Return S_ij of the keys from n0 on as the softmax takes it: modified, −∞ where masked.

    softcap: σ(2 s/c), of which c·tanh(s/c) is 2c·σ − c. alibi: the bias of the warpgroup's first
    row, in units of S. Both differ from the score by `shift`, the same for all keys.
    """
    M: gl.constexpr = S.shape[0]
    N: gl.constexpr = S.shape[1]
    SPLIT: gl.constexpr = S.reshape([M, N // 8, 8]).type.layout
    BY_ROW_AND_LOW: gl.constexpr = gl.SliceLayout(1, SPLIT)
    # as in `parts.mask`: key 8 · high + low of the block, high a number in the code
    high = gl.arange(0, N // 8, gl.SliceLayout(0, gl.SliceLayout(2, SPLIT))) * 8
    low = gl.arange(0, 8, gl.SliceLayout(0, BY_ROW_AND_LOW))
    spans, whole, place, parameter = own
    if plan.score == "softcap":
        S = _reciprocal(1.0 + gl.exp2(S * parameter))
    elif plan.score == "alibi":
        near = (n0 - place + low).to(gl.float32) * parameter
        near = near[None, :][:, None, :]
        S = S.reshape([M, N // 8, 8])
        if plan.has_spare_registers:
            S += (high.to(gl.float32) * parameter)[None, :][:, :, None] + near
        else:  # by one multiply-add, so that no register keeps the product
            S = gl.fma(high.to(gl.float32)[None, :][:, :, None], parameter, S + near)
        S = S.reshape([M, N])
        S = gl.convert_layout(S, S_LAYOUT, assert_trivial=True)
    if MASK == 1:
        S = _mask_spans(S, n0, spans, high, low, plan, S_LAYOUT)
    elif MASK == 2:
        if (n0 < whole[0]) | (n0 + N > whole[1]):
            S = _mask_spans(S, n0, spans, high, low, plan, S_LAYOUT)
    return S


@gluon.jit
def _mask_spans(S, n0, spans, high, low, plan: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Set S = −∞ where the row does not see the key; high and low as in `parts.mask`."""
    M: gl.constexpr = S.shape[0]
    N: gl.constexpr = S.shape[1]
    SPLIT: gl.constexpr = S.reshape([M, N // 8, 8]).type.layout
    BY_ROW: gl.constexpr = gl.SliceLayout(1, gl.SliceLayout(1, SPLIT))
    if plan.has_spare_registers:
        start = gl.convert_layout(spans[0], BY_ROW, assert_trivial=True)
        stop = gl.convert_layout(spans[1], BY_ROW, assert_trivial=True)
    else:
        start, stop = _spans(spans, BY_ROW)
    return mask_intervals(S, start, stop, n0, high, low, S_LAYOUT)


@gluon.jit
def whole_blocks(whole, first, end, N: gl.constexpr):
    """Return the key blocks low … high − 1, of first … end − 1, that all rows see."""
    high = gl.maximum(gl.minimum(whole[1] // N, end), first)
    low = gl.minimum(gl.maximum((whole[0] + N - 1) // N, first), high)
    return high, low


@gluon.jit
def shift(own, plan: gl.constexpr, BY_ROW: gl.constexpr):
    """Return what `modify_and_mask` adds to all scores of a row, in units of S."""
    if plan.score == "softcap":
        return 0.5
    elif plan.score == "alibi":
        return gl.arange(0, 64, BY_ROW).to(gl.float32) * own[3]
    else:
        return 0.0


@gluon.jit
def first_state(SINKS, h, own, scale_log2, plan: gl.constexpr, BY_ROW: gl.constexpr):
    """Return m and l before the first key: −∞ and 0, or the sink's logit and 1."""
    m = gl.full([64], float("-inf"), gl.float32, BY_ROW)
    l = gl.zeros([64], gl.float32, BY_ROW)
    if plan.sink:
        m = gl.zeros([64], gl.float32, BY_ROW) + gl.load(SINKS + h) * LOG2E / scale_log2
        m += shift(own, plan, BY_ROW)
        l += 1.0
    return m, l


@gluon.jit
def _reciprocal(x):
    """Return 1 / x to one unit in the last place; 0 of ∞."""
    return gl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], gl.float32, is_pure=True, pack=1
    )
