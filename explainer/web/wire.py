"""Pack a Trace for the browser, in the format that assets/js/model/decode.js reads.

Little-endian: magic "FATR", uint32 length of the header, the header (JSON, space-padded to a
multiple of 8), then the arrays, each starting at a multiple of 8. The header's ``arrays`` maps
name → dtype (f4 f2 i4 u1), shape, offset from the first array byte.
"""

import gzip
import json
import struct
from dataclasses import dataclass, replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.backward_numbers import BackwardVisit
from explainer.algorithms.inputs import make_inputs, quantize, row_names
from explainer.algorithms.numbers import Visit
from explainer.algorithms.quantized import row_errors
from explainer.algorithms.registry import ALGORITHMS, OF_PASS, lanes_of
from explainer.algorithms.schedule import schedule, without_backward
from explainer.algorithms.sizes import wire_bytes
from explainer.algorithms.traffic import summed
from explainer.algorithms.transfers import OPS, PAIRS, PASSES, Pass, Step, itemsize
from explainer.base.cache import cached
from explainer.base.fields import FIELDS
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import tile_budget
from explainer.problem import Problem
from explainer.trace import (
    TRACES,
    BackwardTrace,
    Trace,
    has_too_many_products,
    one_visit,
    one_visit_backward,
)
from kernels.spec.fields import FP8
from kernels.spec.formats import ITEMSIZE

t = Texts("web")
VERSION = 1
KIND = computed(t("kind"))  # every number of a trace, in every file
ROW_STATS = ("m_old", "m_new", "l_old", "l_new", "alpha", "row_max", "row_sum")
OFF_AT_0 = tuple(f.name for f in FIELDS.values() if f.kind == "number" and f.default == 0)
PAGED = ("block_table", "pages")
MOST_NUMBERS = 4_000_000  # bytes of numbers before a Problem is sent as tiles only
MOST_VISITS = 4_096  # tiles, likewise: a page to take home computes all three loop orders
EXACT_UP_TO = 200_000  # bytes below which also the display-only arrays travel as float32

Arrays = dict[str, np.ndarray]
Found = dict[str, np.ndarray | None]


def has_numbers(problem: Problem, pass_: str = "forward") -> bool:
    """Return True if the Problem travels with its numbers, False if as tiles only."""
    if problem.Tr * problem.Tc > MOST_VISITS or has_too_many_products(problem):
        return False
    return wire_bytes(problem, pass_) <= 2 * MOST_NUMBERS  # most of them shrink to half


def columns_of_pairs(problem: Problem) -> int:
    """Return the factor w of the index i·w + k of a block that is a pair: (row block, key block) of
    a matrix of scores, or (row block, lane), of which there can be more than key blocks."""
    return max(problem.Tc, ALGORITHMS[problem.order].lanes)


def _skeleton(problem: Problem, steps: tuple[Step, ...], of: Pass) -> Arrays:
    """Return visits and transfers as flat arrays; −1 where a visit has no i or no j; a block that
    is a pair is the index of ``columns_of_pairs``."""
    lanes, width = ALGORITHMS[problem.order].lanes, columns_of_pairs(problem)
    moves = [move for step in steps for move in step.transfers]
    # Few are looked at: most blocks move many times, by the same transfer.
    ids = np.fromiter(map(id, moves), np.int64, len(moves))
    _, firsts, which = np.unique(ids, return_index=True, return_inverse=True)
    moves = [moves[k] for k in firsts]
    blocks = [
        move.block if isinstance(move.block, int) else move.block[0] * width + move.block[1]
        for move in moves
    ]
    tensors, places = ({x: k for k, x in enumerate(names)} for names in (of.tensors, of.phases))
    bits = {
        phases: sum(1 << places[phase] for phase in phases)
        for phases in {step.phases for step in steps}
    }
    of_steps = {
        "v_i": ("i4", [-1 if step.i is None else step.i for step in steps]),
        "v_j": ("i4", [-1 if step.j is None else step.j for step in steps]),
        "v_kind": ("u1", [tiling.KINDS.index(step.kind) for step in steps]),
        "v_stage": ("u1", [of.stages.index(step.stage) for step in steps]),
        "v_phases": ("i4", [bits[step.phases] for step in steps]),
    }
    if lanes > 1:
        of_steps["v_lane"] = "u1", [step.lane for step in steps]
    of_moves = {
        "t_tensor": ("u1", [tensors[move.tensor] for move in moves]),
        "t_block": ("i4", blocks),
        "t_op": ("u1", [OPS.index(move.op) for move in moves]),
        "t_phase": ("u1", [places[move.phase] for move in moves]),
        "t_bytes": ("i4", [move.nbytes for move in moves]),
    }
    return {
        "tile_kind": tiling.kinds(problem),
        **{name: np.array(values, kind) for name, (kind, values) in of_steps.items()},
        "t_ptr": _starts([len(step.transfers) for step in steps]),
        **{name: np.array(values, kind)[which] for name, (kind, values) in of_moves.items()},
    }


def _hidden(problem: Problem, rows: slice = slice(None), cols: slice = slice(None)) -> np.ndarray:
    """Pack a bit per score, row by row, high bits first: 1 where the mask hides it; empty if it
    hides none."""
    if not problem.mask.hides:
        return np.zeros(0, np.uint8)
    return np.packbits(~problem.mask.keep(problem.n, problem.n, rows, cols))


def _masked(problem: Problem) -> Arrays:
    """Pack what the mask hides, score by score, and for a mask that is not plain the kind that each
    of its predicates alone gives each tile."""
    n, mask = problem.n, problem.mask
    parts = () if mask.plain else mask.parts(n, n, problem.block_q, problem.block_k)
    return {"hidden": _hidden(problem), "tile_parts": np.array(parts, np.uint8)}


@dataclass(frozen=True)
class Layout:
    """Declare how the numbers of a pass travel, by their names in the trace and on the wire.

    ``wholes``: arrays of the trace; ``tiles``: what visits compute of a tile, joined to N × N, with
    the number where no visit computes it; ``sums``: under the array that says where each visit
    begins, what it has of rows or of sums, NaN where it has only others of these.
    ``display_only``: arrays that may travel in half precision.
    """

    wholes: tuple[str, ...]
    tiles: dict[str, tuple[str, float]]
    sums: dict[str, dict[str, str]]
    display_only: tuple[str, ...]

    def of_visit(self) -> dict[str, str]:
        """Return {attribute of a visit: its name on the wire}."""
        names = {attribute: name for attribute, (name, _) in self.tiles.items()}
        return names | {k: name for found in self.sums.values() for k, name in found.items()}


MATRICES = ("Q", "K", "V", "O", "dO", "dQ", "dK", "dV")
LAYOUTS = {
    "forward": Layout(
        wholes=("Q", "K", "V", "O", "lse"),
        # What the product gives; `hidden` is what the mask takes away.
        tiles={"scores": ("S", -np.inf), "P": ("P", 0)},
        sums={"r_ptr": {name: f"r_{name}" for name in ROW_STATS}, "a_ptr": {"O": "acc"}},
        display_only=("Q", "K", "V", "O", "P", "acc"),
    ),
    "backward": Layout(
        wholes=(*MATRICES, "lse", "D"),
        tiles={
            "scores": ("S", -np.inf),
            **{name: (name, 0) for name in ("P", "dP", "dS")},
            "slope": ("slope", 1),
        },
        sums={
            "a_ptr": {"part_dQ": "part_dQ", "dQ": "acc_dQ"},
            "c_ptr": {"dK": "acc_dK", "dV": "acc_dV"},
        },
        display_only=(*MATRICES, "P", "dP", "dS", "part_dQ", "acc_dQ", "acc_dK", "acc_dV"),
    ),
}


def _numbers(run: Trace | BackwardTrace, pass_: str) -> Arrays:
    """Return a whole trace as the arrays of its layout; of visits whose columns are lanes
    ``lane_S`` and ``lane_P``."""
    problem, layout = run.problem, LAYOUTS[pass_]
    arrays: Arrays = {name: getattr(run, name) for name in layout.wholes}
    of_lanes = [visit for visit in run.visits if _has_lanes(problem, visit)]
    tiles = [visit for visit in run.visits if not _has_lanes(problem, visit)]
    for attribute, (name, empty) in layout.tiles.items():
        if attribute == "slope" and not problem.score.changes:
            continue
        arrays[name] = whole = np.full((problem.n, problem.n), empty, "f4")
        for visit in tiles:
            if (tile := getattr(visit, attribute)) is not None:
                whole[tiling.rows(problem, visit.i), tiling.cols(problem, visit.j)] = tile
    for name in "SP" if of_lanes else "":
        lanes = ALGORITHMS[problem.order].lanes
        arrays[f"lane_{name}"] = whole = np.full((problem.n, lanes), np.nan, "f4")
        for visit in of_lanes:
            whole[tiling.rows(problem, visit.i)] = getattr(visit, name)
    arrays |= _masked(problem)
    for pointer, names in layout.sums.items():
        found = {name: [getattr(visit, key) for visit in run.visits] for key, name in names.items()}
        sizes = [
            max(0 if x is None else x.size for x in of_visit)
            for of_visit in zip(*found.values(), strict=True)
        ]
        arrays[pointer] = _starts(sizes)
        arrays |= {name: _joined(parts, sizes) for name, parts in found.items()}
    if isinstance(run, Trace) and problem.dtype == FP8:
        arrays |= _costs(run)
    if sum(x.nbytes for x in arrays.values()) > EXACT_UP_TO:
        with np.errstate(over="ignore"):
            arrays |= {name: arrays[name].astype("f2") for name in layout.display_only}
    return arrays


def _costs(run: Trace) -> Arrays:
    """Return the errors that e4m3 makes of each row and visit, beside its statistics, and the
    scales of the blocks of Q and K."""
    problem, sizes = run.problem, [0 if x.m_new is None else x.m_new.size for x in run.visits]
    errors = row_errors(problem, run.visits)
    q_scales, k_scales, _ = quantize(problem).scales
    scales = {"scale_Q": q_scales[:: problem.block_q], "scale_K": k_scales[:: problem.block_k]}
    return {f"e_{name}": _joined(parts, sizes) for name, parts in errors.items()} | scales


def _has_lanes(problem: Problem, visit: Visit | BackwardVisit) -> bool:
    """Return True if the columns of the visit's S and P are lanes, not keys."""
    stages = ALGORITHMS[problem.order].stages
    return visit.stage in stages and stages[visit.stage].columns == "lanes"


def _joined(parts: list[np.ndarray | None], sizes: list[int]) -> np.ndarray:
    filled = [
        np.full(size, np.nan) if x is None else x.ravel()
        for x, size in zip(parts, sizes, strict=True)
    ]
    return np.concatenate([*filled, np.zeros(0)]).astype("f4")


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype("i4")


def _heads(problem: Problem) -> dict[str, int]:
    """Return the chosen head, and the bytes of K and V that a token leaves in the cache."""
    names = ("head", "q_heads", "kv_head", "kv_heads")
    kv_bytes = 2 * problem.kv_heads * problem.d * ITEMSIZE[problem.dtype]
    return {name: getattr(problem, name) for name in names} | {"kv_bytes": kv_bytes}


def _header(problem: Problem, pass_: str, numbers: bool) -> dict:
    of, orders = PASSES[pass_], lanes_of(problem.order, pass_)
    fields = ("n", "d", "block_q", "block_k", "dtype", "inputs", "seed")
    totals = {
        convention: {o: summed(replace(problem, order=o), convention, pass_) for o in orders}
        for convention in CONVENTIONS
    }
    return {
        "version": VERSION,
        "kind": str(KIND),
        "query": problem.to_query(),
        "problem": {name: getattr(problem, name) for name in (*fields, "sink", "scale", "Tr", "Tc")}
        | {"order": OF_PASS[pass_][problem.order].key}  # a variant's backward is another's
        | {"mask": str(problem.mask), "plain": problem.mask.plain, "score": str(problem.score)}
        | {"changes": problem.score.to_json(problem.head, problem.q_heads)}
        | ({"heads": _heads(problem)} if problem.q_heads > 1 else {})
        | {name: x for name in OFF_AT_0 if (x := getattr(problem, name))}
        | ({name: getattr(problem, name) for name in PAGED} if problem.block_table else {}),
        "row_names": row_names(problem),
        "numbers": numbers,
        "pass": pass_,
        "has_backward": without_backward(problem) is None,
        "phases": of.phases,
        "stages": of.stages,
        "tensors": of.tensors,
        "itemsize": {name: itemsize(problem, name) for name in of.tensors},
        "pairs": [name for name in of.tensors if name in PAIRS],
        "tile_counts": tiling.counts(problem),
        "totals": totals,
        "sram": tile_budget.summary(problem, pass_),
    }


def pack(problem: Problem, pass_: str = "forward") -> bytes:
    """Pack the Problem's trace in the format above. Raises ProblemError for too many tiles, and
    where there is no backward pass."""
    arrays = _skeleton(problem, schedule(problem, pass_), PASSES[pass_])
    header = _header(problem, pass_, numbers := has_numbers(problem, pass_))
    if numbers:
        run = TRACES[pass_](problem)
        arrays |= _numbers(run, pass_)
        if isinstance(run, BackwardTrace) and run.dsink is not None:
            header["dsink"] = float(run.dsink)
    return _packed(header, arrays)


def _pack_visit(step: int, visit: Visit | BackwardVisit, arrays: Found, pass_: str) -> bytes:
    """Pack the visit's own numbers, by the names of the whole trace, with these arrays; what is
    None is not there."""
    names = LAYOUTS[pass_].of_visit().items()
    own = [(name, getattr(visit, attribute)) for attribute, name in names]
    found = {name: x for name, x in (*arrays.items(), *own) if x is not None}
    return _packed({"version": VERSION, "step": step}, found)


def pack_visit(problem: Problem, step: int) -> bytes:
    """Pack one visit with its numbers, for a Problem that travels as tiles only: Q_i, K_j, V_j, S,
    P, the statistics of the rows, O before and after. Raises ProblemError for no such visit."""
    visit, before = one_visit(problem, step)
    Q, K, V = make_inputs(problem)
    rows, cols = tiling.rows(problem, visit.i), tiling.cols(problem, visit.j)
    if _has_lanes(problem, visit):  # it meets no key
        cols = slice(0)
    arrays: Found = {
        "Q": Q[rows],
        "K": K[cols],
        "V": V[cols],
        "hidden": _hidden(problem, rows, cols),
    }
    arrays["S"] = visit.S  # in place of the scores, in a stage that has none
    arrays["acc_before"] = before and before.O
    if visit.l_new is not None and visit.O is not None:
        l = np.where(visit.l_new > 0, visit.l_new, 1)[:, None]  # 0: a row that sees no key
        divided = visit.stage or ALGORITHMS[problem.order].output != "unnormalized"
        arrays["O"] = visit.O if divided else visit.O / l
    return _pack_visit(step, visit, arrays, "forward")


def pack_visit_backward(problem: Problem, step: int) -> bytes:
    """Pack one visit of the backward pass: O_i, dO_i, lse and D of its rows; of its tile S, P, dP,
    dS and the slope; what it adds to dQ_i, ``acc_`` the sums after it, ``before_`` those that it
    continues, and dQ_i, dK_j, dV_j where it stores them."""
    visit, before, run = one_visit_backward(problem, step)
    rows = slice(0) if visit.i is None else tiling.rows(problem, visit.i)
    cols = tiling.cols(problem, visit.j)
    arrays: Found = {name: getattr(run, name)[rows] for name in ("Q", "O", "dO", "lse")}
    arrays |= {name: getattr(run, name)[cols] for name in ("K", "V")}
    arrays |= {"hidden": _hidden(problem, rows, cols), "D": visit.D}
    arrays |= {f"before_{name}": x for name, x in before.items()}
    if "store" in visit.phases:
        stored = {move.tensor for move in visit.transfers if move.op == "write"}
        for name, block in {"dQ": rows, "dK": cols, "dV": cols}.items():
            if name in stored:
                arrays[name] = getattr(run, name)[block]
    return _pack_visit(step, visit, arrays, "backward")


def _packed(header: dict, arrays: Arrays) -> bytes:
    directory, chunks, offset = {}, [], 0
    for name, x in arrays.items():
        data = np.ascontiguousarray(x)
        kind = f"{data.dtype.kind}{data.dtype.itemsize}"
        directory[name] = {"dtype": kind, "shape": data.shape, "offset": offset}
        padding = -data.nbytes % 8
        chunks.append(
            data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes() + bytes(padding)
        )
        offset += data.nbytes + padding
    text = json.dumps(header | {"arrays": directory}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([b"FATR", struct.pack("<I", len(text)), text, *chunks])


def compressed(body: bytes) -> bytes:
    """Compress with gzip: the same bytes for the same body."""
    return gzip.compress(body, 6, mtime=0)


@cached(16 << 20, len)
def packed_gzip(problem: Problem, pass_: str = "forward") -> bytes:
    """Pack and compress the Problem: the same bytes for the same Problem."""
    return compressed(pack(problem, pass_))
