"""The instructions of `ptx_machine` by a pattern of the name; and those that load and store."""

import operator

import numpy as np

from . import ptx_async as ordered
from . import ptx_values as values
from .ptx_values import LANES, U16, U32, kind, names_in, plain


def active(lanes) -> np.ndarray:
    """The numbers of the lanes that take part; None is all."""
    return np.arange(32) if lanes is None else np.flatnonzero(lanes)


def load_shared(m, found, parts):
    targets, at = names_in(parts[0]), m.address(parts[1])
    how = kind(found["type"])

    def act(warp, lanes):
        for k, target in enumerate(targets):
            where = at(warp) + k * how.itemsize
            where = where if lanes is None else np.where(lanes, where, where[np.argmax(lanes)])
            values = warp.block.read(where, how)
            m.assign(warp, target, values.astype(U32) if how.itemsize < 4 else values, lanes)

    return act


def store_shared(m, found, parts):
    at, sources = m.address(parts[0]), names_in(parts[1])
    how = kind(found["type"])
    sources = [m.value(source, how) for source in sources]

    def act(warp, lanes):
        lanes = slice(None) if lanes is None else lanes
        for k, source in enumerate(sources):
            where = at(warp) + k * how.itemsize
            warp.block.write(where[lanes], source(warp)[lanes], warp.number + 1)

    return act


def store_matrix(m, found, parts):
    """stmatrix: lane 8 k + r has the address of row r of the k-th matrix, 16 bytes; register k of
    lane 4 r + c its elements 2 c and 2 c + 1."""
    at, sources = m.address(parts[0]), names_in(parts[1])
    turned = ".trans" in found[0]

    def act(warp, lanes):
        where = at(warp)
        for k, source in enumerate(sources):
            rows = where[8 * k : 8 * k + 8]
            values = warp.registers[source].view(U32)
            matrix = np.stack([values & 0xFFFF, values >> 16], 1).astype(U16).reshape(8, 8)
            matrix = matrix.T if turned else matrix
            places = rows[:, None] + 2 * np.arange(8)[None, :]
            warp.block.write(places, np.ascontiguousarray(matrix), warp.number + 1)

    return act


def words_at(m, addresses, lanes, k=0):
    """Of each lane that takes part: its number, and the array and the place of its k-th word."""
    for lane in active(lanes):
        yield lane, *m.global_memory(int(addresses[lane]) + 4 * k)


def load_global(m, found, parts):
    targets, at = names_in(parts[0]), m.address(parts[1])

    def act(warp, lanes):
        addresses = at(warp)
        for k, target in enumerate(targets):
            values = np.zeros(32, U32)
            for lane, words, place in words_at(m, addresses, lanes, k):
                values[lane] = words[place]
            m.assign(warp, target, values, lanes)

    return act


def load_acquired(m, found, parts):
    load = load_global(m, found, parts)

    def act(warp, lanes):
        load(warp, lanes)
        warp.waits = warp.spins  # lets others go on, so that what it looks for may change

    return act


def store_global(m, found, parts):
    at, sources = m.address(parts[0]), [m.value(x) for x in names_in(parts[1])]

    def act(warp, lanes):
        for k, source in enumerate(sources):
            for lane, words, place in words_at(m, at(warp), lanes, k):
                words[place] = source(warp)[lane]

    return act


def add_global(m, found, parts):
    """red, and atom, which has a register for what was there before."""
    *target, to, added = parts
    at, source = m.address(to), m.value(added)

    def act(warp, lanes):
        values = np.zeros(32, U32)
        for lane, words, place in words_at(m, at(warp), lanes):
            values[lane] = words[place]
            words[place] += source(warp)[lane]
        for name in target:
            m.assign(warp, name, values, lanes)

    return act


def jump(m, found, parts):
    index = m.value(parts[0])

    def act(warp):
        warp.at = m.labels[m.tables[parts[1]][int(index(warp)[0])]]

    return act


def end(m, found, parts):
    def act(warp):
        warp.done = True

    return act


def nothing(m, found, parts):
    return lambda warp, lanes: None


CONTROL = {"bar.sync", "bar.arrive", "barrier.sync", "brx.idx", "ret"}
T = r"(?P<type>[subf]\d+|pred)"
ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    r"mul(?:\.lo)?": np.multiply,
    "neg": np.negative,
    r"mad\.lo": lambda a, b, c: a * b + c,
    "and": np.bitwise_and,  # of predicates too
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "bfe": values.field_of,
    "shl": values.shifted(True),
    "shr": values.shifted(False),
    "div": values.divided,
    r"div\.full": np.divide,
    "rem": np.fmod,
    "min": np.minimum,
    "max": np.maximum,
    r"ex2\.approx\.ftz": values.exp2,
    r"rcp\.approx\.ftz": np.reciprocal,
}
TESTS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
INSTRUCTIONS = [
    (r"bar\.(?:sync|arrive)|barrier\.sync", ordered.meet),
    ("brx.idx", jump),
    ("ret", end),
    (r"setmaxnreg.*|bar\.warp\.sync|wgmma\.fence.*", nothing),
    (r"fence\.proxy\.async.*", ordered.fence),
    (rf"mov\.{T}", values.move),
    (rf"ld\.param\.{T}", values.load_parameter),
    (r"cvta\.param\.(?P<type>u64)", values.move),
    *((rf"{name}\.{T}", plain(function)) for name, function in ARITHMETIC.items()),
    (
        r"mul\.hi\.(?P<type>s32)",
        plain(lambda a, b: (a.astype(np.int64) * b >> 32).astype(np.int32)),
    ),
    (r"fma\.rn(?:\.ftz)?\.(?P<type>f32)", plain(values.fused)),
    *((rf"setp\.{name}\.{T}", plain(test, result="pred")) for name, test in TESTS.items()),
    (rf"setp\.ne\.or\.{T}", plain(lambda a, b, flag: (a != b) | flag, last="pred", result="pred")),
    (r"vote\.sync\.any\.(?P<type>pred)", values.vote),
    (rf"selp\.{T}", plain(lambda a, b, flag: np.where(flag, a, b), last="pred")),
    (rf"(?:mul|mad)\.wide\.{T}", values.wide),
    (r"cvt(?:\.rn)?(?:\.satfinite)?\.(\w+)\.(\w+)", values.convert),
    (r"shfl\.sync\.idx\.(?P<type>b32)", plain(lambda x, lane, *_: x[lane & 31])),
    (r"shfl\.sync\.bfly\.(?P<type>b32)", plain(lambda x, by, *_: x[LANES ^ by.astype(int)])),
    (r"elect\.sync", values.elect),
    (rf"ld\.shared(?:\.v\d)?\.{T}", load_shared),
    (rf"st\.shared(?:\.v\d)?\.{T}", store_shared),
    (r"stmatrix\.sync\.aligned\.m8n8\.x\d(?:\.trans)?\.shared\.b16", store_matrix),
    (r"ld\.global(?:\.v\d)?\.b32", load_global),
    (r"st\.global(?:\.v\d)?\.b32", store_global),
    (r"ld\.acquire\.gpu\.global\.b32", load_acquired),
    (r"red\.release\.gpu\.global\.add\.u32", add_global),
    (r"atom\.global\.gpu\.acq_rel\.add\.u32", add_global),
    (r"mbarrier\.init\.shared::cta\.b64", ordered.begin_barrier),
    (r"mbarrier\.arrive(?:\.expect_tx)?\.shared(?:::cta)?\.b64", ordered.arrive),
    (r"mbarrier\.try_wait\.parity\.shared(?:::cta)?\.b64", ordered.try_wait),
    (r"cp\.async\.bulk\.tensor\.\dd\.shared::\w+\.global\.mbarrier.*", ordered.copy_in),
    (r"cp\.(?:reduce\.)?async\.bulk\.tensor\.\dd\.global\.shared::cta.*", ordered.copy_out),
    (r"cp\.async\.bulk\.commit_group", ordered.commit("open_stores", "stores")),
    (r"cp\.async\.bulk\.wait_group(?:\.read)?", ordered.wait_group("stores")),
    (r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k\d+\.f32\.(b?f16|e4m3)\.\w+", ordered.product),
    (r"wgmma\.commit_group.*", ordered.commit("open", "products")),
    (r"wgmma\.wait_group.*", ordered.wait_group("products")),
]
