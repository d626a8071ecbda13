"""Pack a Trace for the browser, in the format that assets/js/model/decode.js reads.

Little-endian: magic "FATR", uint32 length of the header, the header (JSON, space-padded to a
multiple of 8), then the arrays, each starting at a multiple of 8. The header's ``arrays`` maps
name → dtype (f4 f2 i4 u1), shape, offset from the first array byte.
"""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.inputs import make_inputs, row_names
from explainer.algorithms.registry import ALGORITHMS, OF_PASS, lanes_of
from explainer.algorithms.schedule import schedule
from explainer.algorithms.sizes import wire_bytes
from explainer.algorithms.traffic import summed
from explainer.algorithms.transfers import OPS, PAIRS, PASSES, Pass, Step, itemsize
from explainer.base.cache import cached
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import tile_budget
from explainer.problem import Problem
from explainer.trace import (
    BackwardTrace,
    Trace,
    one_visit,
    one_visit_backward,
    trace,
    trace_backward,
)
from kernels.spec.formats import ITEMSIZE

t = Texts("web")
VERSION = 1
KIND = computed(t("kind"))  # every number of a trace, in every file
ROW_STATS = ("m_old", "m_new", "l_old", "l_new", "alpha", "row_max", "row_sum")
MOST_NUMBERS = 4_000_000  # bytes of numbers before a Problem is sent as tiles only
MOST_VISITS = 4_096  # tiles, likewise: a page to take home computes all three loop orders
EXACT_UP_TO = 200_000  # bytes below which also the display-only arrays travel as float32

Arrays = dict[str, np.ndarray]


def has_numbers(problem: Problem, pass_: str = "forward") -> bool:
    """Return True if the Problem travels with its numbers, False if as tiles only."""
    few = problem.Tr * problem.Tc <= MOST_VISITS
    return few and wire_bytes(problem, pass_) <= 2 * MOST_NUMBERS  # most of them shrink to half


def _skeleton(problem: Problem, steps: tuple[Step, ...], of: Pass) -> Arrays:
    """Return visits and transfers as flat arrays; −1 where a visit has no i or no j; a block of a
    matrix of scores is the index i·Tc + j."""
    moves = [move for s in steps for move in s.transfers]
    # Few are looked at: most blocks move many times, by the same transfer.
    ids = np.fromiter(map(id, moves), np.int64, len(moves))
    _, firsts, which = np.unique(ids, return_index=True, return_inverse=True)
    each = [moves[k] for k in firsts]
    Tc = problem.Tc
    blocks = [
        move.block if isinstance(move.block, int) else move.block[0] * Tc + move.block[1]
        for move in each
    ]
    counts = [len(s.transfers) for s in steps]
    tensors, places = ({x: k for k, x in enumerate(names)} for names in (of.tensors, of.phases))
    lanes = {} if ALGORITHMS[problem.order].lanes == 1 else {"v_lane": [s.lane for s in steps]}
    bits = {phases: sum(1 << places[p] for p in phases) for phases in {s.phases for s in steps}}
    return {name: np.array(x, "u1") for name, x in lanes.items()} | {
        "tile_kind": tiling.kinds(problem),
        "v_i": np.array([-1 if s.i is None else s.i for s in steps], "i4"),
        "v_j": np.array([-1 if s.j is None else s.j for s in steps], "i4"),
        "v_kind": np.array([tiling.KINDS.index(s.kind) for s in steps], "u1"),
        "v_stage": np.array([of.stages.index(s.stage) for s in steps], "u1"),
        "v_phases": np.array([bits[s.phases] for s in steps], "i4"),
        "t_ptr": np.concatenate([[0], np.cumsum(counts)]).astype("i4"),
        "t_tensor": np.array([tensors[move.tensor] for move in each], "u1")[which],
        "t_block": np.array(blocks, "i4")[which],
        "t_op": np.array([OPS.index(move.op) for move in each], "u1")[which],
        "t_phase": np.array([places[move.phase] for move in each], "u1")[which],
        "t_bytes": np.array([move.nbytes for move in each], "i4")[which],
    }


def _hidden(p: Problem, rows: slice = slice(None), cols: slice = slice(None)) -> np.ndarray:
    """Pack a bit per score, row by row, high bits first: 1 where the mask hides it; empty if it
    hides none."""
    if not p.mask.hides:
        return np.zeros(0, np.uint8)
    return np.packbits(~p.mask.keep(p.n, p.n, rows, cols))


def _masked(p: Problem) -> Arrays:
    """Pack what the mask hides, score by score, and for a mask that is not plain the kind that each
    of its predicates alone gives each tile."""
    parts = () if p.mask.plain else p.mask.parts(p.n, p.n, p.block_q, p.block_k)
    return {"hidden": _hidden(p), "tile_parts": np.array(parts, np.uint8)}


def _joined(parts: list[np.ndarray | None], sizes: list[int]) -> np.ndarray:
    filled = [
        np.full(size, np.nan) if x is None else x.ravel()
        for x, size in zip(parts, sizes, strict=True)
    ]
    return np.concatenate([*filled, np.zeros(0)]).astype("f4")


def _numbers(run: Trace) -> Arrays:
    p = run.problem
    S, P = np.full((p.n, p.n), -np.inf, "f4"), np.zeros((p.n, p.n), "f4")
    algorithm = ALGORITHMS[p.order]
    of_lanes = {name for name, stage in algorithm.stages.items() if stage.columns == "lanes"}
    lanes = {name: np.full((p.n, algorithm.lanes), np.nan, "f4") for name in "SP"}
    for v in run.visits:
        if v.stage in of_lanes:
            lanes["S"][tiling.rows(p, v.i)], lanes["P"][tiling.rows(p, v.i)] = v.S, v.P
            continue
        tile = tiling.rows(p, v.i), tiling.cols(p, v.j)
        if v.scores is not None:  # what the product gives; `hidden` is what the mask takes away
            S[tile] = v.scores
        if v.P is not None:
            P[tile] = v.P
    rows = [0 if v.m_new is None else len(v.m_new) for v in run.visits]
    sizes = [0 if v.O is None else v.O.size for v in run.visits]
    arrays = {"Q": run.Q, "K": run.K, "V": run.V, "O": run.O, "S": S, "P": P, "lse": run.lse}
    arrays |= {f"lane_{name}": x for name, x in lanes.items() if of_lanes}
    arrays |= _masked(p)
    arrays["r_ptr"] = _starts(rows)
    for name in ROW_STATS:
        arrays["r_" + name] = _joined([getattr(v, name) for v in run.visits], rows)
    arrays["a_ptr"] = _starts(sizes)
    arrays["acc"] = _joined([v.O for v in run.visits], sizes)
    return _shrunk(arrays, ("Q", "K", "V", "O", "P", "acc"))


def _backward_numbers(run: BackwardTrace) -> Arrays:
    """Return a backward pass as arrays: ``part_dQ`` and ``acc_dQ`` from a_ptr[v], ``acc_dK`` and
    ``acc_dV`` from c_ptr[v]: what visit v adds and the sums after it, NaN where it has one of the
    two; S, P, dP, dS, slope as a whole, with −∞, 0 and 1 where no visit computes them."""
    p = run.problem
    matrices = ("Q", "K", "V", "O", "dO", "dQ", "dK", "dV")
    arrays = {name: getattr(run, name) for name in (*matrices, "lse", "D")}
    wholes = {"scores": ("S", -np.inf), "P": ("P", 0), "dP": ("dP", 0), "dS": ("dS", 0)}
    wholes |= {"slope": ("slope", 1)} if p.score.changes else {}
    for name, (called, empty) in wholes.items():
        arrays[called] = whole = np.full((p.n, p.n), empty, "f4")
        for v in run.visits:
            if (tile := getattr(v, name)) is not None:
                whole[tiling.rows(p, v.i), tiling.cols(p, v.j)] = tile
    arrays |= _masked(p)
    for pointer, sums in (
        ("a_ptr", {"part_dQ": "part_dQ", "dQ": "acc_dQ"}),
        ("c_ptr", {"dK": "acc_dK", "dV": "acc_dV"}),
    ):
        found = {called: [getattr(v, name) for v in run.visits] for name, called in sums.items()}
        sizes = [
            max(0 if x is None else x.size for x in of_visit)
            for of_visit in zip(*found.values(), strict=True)
        ]
        arrays[pointer] = _starts(sizes)
        arrays |= {called: _joined(parts, sizes) for called, parts in found.items()}
    display_only = ("P", "dP", "dS", "part_dQ", "acc_dQ", "acc_dK", "acc_dV")
    return _shrunk(arrays, (*matrices, *display_only))


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype("i4")


def _shrunk(arrays: Arrays, display_only: tuple[str, ...]) -> Arrays:
    """Convert the display-only arrays to half precision if all arrays together are large."""
    if sum(x.nbytes for x in arrays.values()) > EXACT_UP_TO:
        with np.errstate(over="ignore"):
            for name in display_only:
                arrays[name] = arrays[name].astype("f2")
    return arrays


def _heads(p: Problem) -> dict[str, int]:
    """Return the chosen head, and the bytes of K and V that a token leaves in the cache."""
    kv_bytes = 2 * p.kv_heads * p.d * ITEMSIZE[p.dtype]
    of_heads = {"head": p.head, "q_heads": p.q_heads, "kv_head": p.kv_head, "kv_heads": p.kv_heads}
    return of_heads | {"kv_bytes": kv_bytes}


def _changes(p: Problem) -> list[dict]:
    return p.score.to_json(p.head, p.q_heads)


def _header(problem: Problem, pass_: str, numbers: bool) -> dict:
    of, orders = PASSES[pass_], lanes_of(problem.order, pass_)
    fields = ("n", "d", "block_q", "block_k", "order", "dtype", "inputs", "seed")
    totals = {
        convention: {o: summed(replace(problem, order=o), convention, pass_) for o in orders}
        for convention in CONVENTIONS
    }
    names = row_names(problem)
    return {
        "version": VERSION,
        "kind": str(KIND),
        "query": problem.to_query(),
        "problem": {f: getattr(problem, f) for f in (*fields, "sink", "scale", "Tr", "Tc")}
        | {"order": OF_PASS[pass_][problem.order].key}  # a variant's backward is another's
        | {"mask": str(problem.mask), "plain": problem.mask.plain}
        | {
            "score": str(problem.score),
            "changes": _changes(problem),
        }
        | ({"heads": _heads(problem)} if problem.q_heads > 1 else {})
        | {name: x for name in ("dropout", "rope") if (x := getattr(problem, name))},
        "row_names": list(names) if names else None,
        "numbers": numbers,
        "pass": pass_,
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
    if numbers and pass_ == "backward":
        run = trace_backward(problem)
        arrays |= _backward_numbers(run)
        header |= {} if run.dsink is None else {"dsink": float(run.dsink)}
    elif numbers:
        arrays |= _numbers(trace(problem))
    return _packed(header, arrays)


def pack_visit(problem: Problem, step: int) -> bytes:
    """Pack one visit with its numbers, for a Problem that travels as tiles only: Q_i, K_j, V_j, S,
    P, the statistics of the rows, O before and after. Raises ProblemError for no such visit."""
    visit, before = one_visit(problem, step)
    Q, K, V = make_inputs(problem)
    rows, cols = tiling.rows(problem, visit.i), tiling.cols(problem, visit.j)
    stage = ALGORITHMS[problem.order].stages.get(visit.stage or "")
    if stage and stage.columns == "lanes":  # it meets no key
        cols = slice(0)
    arrays = {"Q": Q[rows], "K": K[cols], "V": V[cols], "hidden": _hidden(problem, rows, cols)}
    if visit.S is not None:
        arrays["S"] = visit.S if visit.scores is None else visit.scores
    if visit.P is not None:
        arrays["P"] = visit.P
    for name in ROW_STATS:
        if getattr(visit, name) is not None:
            arrays["r_" + name] = getattr(visit, name)
    for name, source in (("acc", visit), ("acc_before", before)):
        if source is not None and source.O is not None:
            arrays[name] = source.O
    if visit.l_new is not None and visit.O is not None:
        l = np.where(visit.l_new > 0, visit.l_new, 1)[:, None]  # 0: a row that sees no key
        divided = visit.stage or ALGORITHMS[problem.order].output != "unnormalized"
        arrays["O"] = visit.O if divided else visit.O / l
    return _packed({"version": VERSION, "step": step}, arrays)


def pack_visit_backward(problem: Problem, step: int) -> bytes:
    """Pack one visit of the backward pass, by the names of the whole trace: O_i, dO_i, lse and D of
    its rows; of its tile S, P, dP, dS and the slope; what it adds to dQ_i, ``acc_`` the sums after
    it, ``before_`` those that it continues, and dQ_i, dK_j, dV_j where it stores them."""
    visit, before, run = one_visit_backward(problem, step)
    rows = slice(0) if visit.i is None else tiling.rows(problem, visit.i)
    cols = tiling.cols(problem, visit.j)
    arrays = {name: getattr(run, name)[rows] for name in ("Q", "O", "dO", "lse")}
    arrays |= {name: getattr(run, name)[cols] for name in ("K", "V")}
    arrays["hidden"] = _hidden(problem, rows, cols)
    of_visit = {"D": "D", "scores": "S", "slope": "slope", "part_dQ": "part_dQ"}
    of_visit |= {name: name for name in ("P", "dP", "dS")} | {f"d{x}": f"acc_d{x}" for x in "QKV"}
    for name, called in of_visit.items():
        if (x := getattr(visit, name)) is not None:
            arrays[called] = x
    arrays |= {f"before_{name}": x for name, x in before.items()}
    if "store" in visit.phases:
        stored = {move.tensor for move in visit.transfers if move.op == "write"}
        for name, block in {"dQ": rows, "dK": cols, "dV": cols}.items():
            if name in stored:
                arrays[name] = getattr(run, name)[block]
    return _packed({"version": VERSION, "step": step}, arrays)


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
