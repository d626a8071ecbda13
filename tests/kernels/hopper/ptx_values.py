"""Instructions of `ptx_machine` that compute: from an instruction's text to its action."""

import re

import numpy as np
import torch

U16, U32, I32, I64, F32 = np.uint16, np.uint32, np.int32, np.int64, np.float32
LANES = np.arange(32)


class Fault(Exception):
    """What a kernel must not do."""


NARROW = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn}


def narrow(x: np.ndarray, element: str) -> np.ndarray:
    """The bits of fp32 rounded to bf16, f16 or e4m3, to nearest even; e4m3 saturates."""
    found = torch.from_numpy(x).to(NARROW[element])
    integer = torch.int16 if found.element_size() == 2 else torch.uint8
    return found.view(integer).numpy().view(f"u{found.element_size()}")


def widen(bits: np.ndarray, element: str) -> np.ndarray:
    """The fp32 of these bits."""
    integer = np.int16 if bits.itemsize == 2 else np.uint8
    return torch.from_numpy(bits.view(integer)).view(NARROW[element]).float().numpy()


KINDS = {"s": "i", "u": "u", "b": "u", "f": "f"}


def kind(text: str) -> np.dtype:
    """NumPy's type of s32, b64, f32 … and pred."""
    if text == "pred":
        return np.dtype(bool)
    return np.dtype(f"{KINDS[text[0]]}{int(text[1:]) // 8}")


def plain(function, *, last: str = "", result: str = ""):
    """Of an instruction `name.type d, a, b …` on values of its type; its last operand and its
    result may have other types."""

    def make(m, found, parts):
        hows = [kind(found["type"])] * len(parts[1:-1]) + [kind(last or found["type"])]
        sources = [m.value(part, how) for part, how in zip(parts[1:], hows, strict=True)]
        target, into = parts[0], kind(result or found["type"])

        def act(warp, lanes):
            values = function(*[source(warp) for source in sources])
            m.assign(warp, target, values.astype(into, copy=False), lanes)

        return act

    return make


def shifted(left: bool):
    def shift(a, b):
        by = np.minimum(b.astype(np.int64), 31)
        return a << by.astype(a.dtype) if left else a >> by.astype(a.dtype)

    return shift


def divided(a, b):
    return (np.abs(a.astype(I64)) // np.abs(b.astype(I64))) * np.sign(a.astype(I64)) * np.sign(b)


def fused(a, b, c):
    return (a.astype(np.float64) * b + c).astype(F32)


def exp2(x):
    with np.errstate(over="ignore", under="ignore"):
        found = np.exp2(x.astype(np.float64)).astype(F32)
    return np.where(np.abs(found) < 2.0**-126, F32(0), found)


def field_of(a, start, width):
    return (a >> start) & ((U32(1) << width) - U32(1))


def move(m, found, parts):
    how = kind(found["type"]) if found["type"] != "pred" else np.dtype(bool)
    if found["type"] == "pred":
        flag = m.value(parts[1], U32) if parts[1][0] != "%" else None
        return lambda warp, lanes: m.assign(
            warp, parts[0], warp.registers[parts[1]] if flag is None else flag(warp) != 0, lanes
        )
    if parts[1].startswith("{"):  # two halves become one
        halves = parts[1].strip("{} ").split(",")
        low, high = (m.value(half.strip(), U16) for half in halves)
        return lambda warp, lanes: m.assign(
            warp, parts[0], low(warp).astype(U32) | (high(warp).astype(U32) << 16), lanes
        )
    source = m.value(parts[1], how)
    return lambda warp, lanes: m.assign(warp, parts[0], source(warp), lanes)


def wide(m, found, parts):
    a, b = (m.value(part, kind(found["type"])) for part in parts[1:3])
    bits = int(found["type"][1:]) * 2
    into = kind(found["type"][0] + str(bits))
    c = m.value(parts[3], into) if len(parts) > 3 else lambda warp: into.type(0)
    return lambda warp, lanes: m.assign(
        warp, parts[0], a(warp).astype(into) * b(warp).astype(into) + c(warp), lanes
    )


def convert(m, found, parts):
    to, of = found[1], found[2]
    if to in NARROW:
        source = m.value(parts[1], F32)
        return lambda warp, lanes: m.assign(warp, parts[0], narrow(source(warp), to), lanes)
    if to.endswith("x2"):
        high, low = (m.value(part, F32) for part in parts[1:])
        size = NARROW[to[:-2]].itemsize

        def act(warp, lanes):
            a, b = (narrow(half(warp), to[:-2]).astype(U32) for half in (low, high))
            m.assign(warp, parts[0], (a | (b << 8 * size)).astype(f"u{2 * size}"), lanes)

        return act
    source = m.value(parts[1], kind(of))
    return lambda warp, lanes: m.assign(warp, parts[0], source(warp).astype(kind(to)), lanes)


def elect(m, found, parts):
    target = parts[0].partition("|")[2]
    return lambda warp, lanes: m.assign(warp, target, LANES == 0, lanes)


def vote(m, found, parts):
    """vote.sync.any of a whole warp."""
    return lambda warp, lanes: m.assign(
        warp, parts[0], np.full(32, warp.registers[parts[1]].any()), lanes
    )


def load_parameter(m, found, parts):
    number = int(re.search(r"_param_(\d+)", parts[1])[1])

    def act(warp, lanes):
        one, how = m.arguments[number], kind(found["type"])
        if isinstance(one, np.ndarray):
            one = m.address_of(one)
        if isinstance(one, float):
            m.assign(warp, parts[0], np.full(32, one, F32).view(U32), lanes)
        else:
            m.assign(warp, parts[0], np.full(32, one % 2 ** (8 * how.itemsize), how), lanes)

    return act


def names_in(text: str) -> list[str]:
    return [part.strip() for part in text.strip("{} ").split(",")]
