"""Runs the PTX of a Gluon kernel for Hopper on the CPU: an interpreter, which Gluon has none of.

Warps of 32 lanes, shared memory, mbarriers and named barriers, TMA and wgmma as the PTX manual has
them, and only the instructions that Triton writes for the kernels of `kernels.hopper`. `Fault` is
raised where all warps wait for each other, where a warp diverges at a branch, where TMA or wgmma
reads what a thread wrote to shared memory and did not fence, and for an unknown instruction. With
`late` what is asynchronous takes place at the wait, the latest moment, else when it is asked for,
the earliest: what is right must be so in both, and for every seed, which orders the warps.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np

from .ptx_async import PARAMETERS, Barrier
from .ptx_instructions import CONTROL, INSTRUCTIONS
from .ptx_values import I64, LANES, U32, Fault

MOST_LOOKS = 20_000
SHARED = 1024  # where shared memory begins: aligned as the hardware has it


class Registers(dict):
    """By name 32 values."""

    def __missing__(self, name):
        raise Fault(f"{name} is read before it is written.")


@dataclass
class Warp:
    """One warp of a block."""

    number: int
    block: Block
    at: int = 0
    looks: int = 0
    done: bool = False
    waits: object = None  # for what; None: it can go on
    registers: Registers = field(default_factory=Registers)
    products: list = field(default_factory=list)  # groups of wgmma that are not awaited
    open: list = field(default_factory=list)
    stores: list = field(default_factory=list)  # groups of bulk copies
    open_stores: list = field(default_factory=list)

    def spins(self) -> bool:
        """Waited for by a warp that looks again and again: now and then it may."""
        self.looks += 1
        if self.looks > MOST_LOOKS:
            raise Fault(f"Warp {self.number} of block {self.block.number} looks for ever.")
        return self.looks % 2 == 0

    def run(self, machine) -> bool:
        """Goes on until it must wait. True if it got anywhere."""
        moved = False
        code = machine.code
        while not self.done:
            if self.waits is not None:
                if not self.waits():
                    return moved
                self.waits = None
            step = code[self.at]
            self.at += 1
            step(self)
            moved = True
        return moved


class Block:
    """One thread block: its shared memory and barriers."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine, self.number = machine, number
        self.shared = np.full(SHARED + machine.shared_bytes, 0xFF, np.uint8)  # NaN until written
        self.dirty = np.zeros(SHARED + machine.shared_bytes, np.int8)  # by which warp, + 1
        self.barriers: dict[int, Barrier] = {}
        self.meeting: dict[int, set] = {}
        self.warps = [Warp(w, self) for w in range(machine.warps)]

    def read(self, at: np.ndarray, how) -> np.ndarray:
        """Elements of 1, 2 or 4 bytes at these addresses, each aligned."""
        size = np.dtype(how).itemsize
        return self.shared.view(f"u{size}")[np.asarray(at, I64) // size].view(how)

    def write(self, at: np.ndarray, values: np.ndarray, warp: int = 0) -> None:
        size = values.dtype.itemsize
        where = np.asarray(at, I64) // size
        self.shared.view(f"u{size}")[where] = values.view(f"u{size}")
        for byte in range(size):
            self.dirty[where * size + byte] = warp

    def clean(self, at: np.ndarray, what: str) -> None:
        """Raises Fault where TMA or wgmma would read what a thread wrote and did not fence."""
        if self.dirty[np.asarray(at, I64)].any():
            raise Fault(f"{what} reads shared memory that was written without a fence.")


class Machine:
    """A kernel's PTX and its arguments: `run(blocks)` runs that many thread blocks at once.

    arguments: what the PTX's parameters are, in order: a Map, an array (its address: a pointer), or
    a number. element: "bf16" or "fp16", of wgmma.
    """

    def __init__(self, ptx: str, arguments: list, shared_bytes: int, *, late=True, seed=0) -> None:
        self.random, self.late = random.Random(seed), late
        self.shared_bytes = -(-shared_bytes // 16) * 16 + 1024
        self.warps = int(re.search(r"\.reqntid (\d+)", ptx)[1]) // 32
        self.arguments, self.arrays = arguments, []
        for one in arguments:
            if isinstance(one, np.ndarray):
                self.arrays.append((len(self.arrays) + 1 << 44, one.reshape(-1).view(U32)))
        self.pending: list = []  # TMA loads on their way
        self.parse(ptx)

    def run(self, blocks: int = 1) -> None:
        """That many thread blocks, until all are done. Raises Fault."""
        self.grid = blocks
        warps = [w for n in range(blocks) for w in Block(self, n).warps]
        asleep = -1  # a group of four warps that is left behind for a while
        while not all(w.done for w in warps):
            self.random.shuffle(warps)
            moved = False
            for warp in warps:
                moved |= warp.number // 4 != asleep and warp.run(self)
            if not moved or self.random.random() < 0.1:
                moved |= asleep >= 0
                asleep = self.random.randrange(-1, 3)
            if self.pending and (not moved or not self.late or self.random.random() < 0.5):
                self.pending.pop(self.random.randrange(len(self.pending)))()
                moved = True
            if not moved:
                stuck = {w.number: self.lines[w.at - 1] for w in warps if not w.done}
                raise Fault(f"All wait for each other: {stuck}")
        for warp in warps:
            if warp.products or warp.open:
                raise Fault("A warp ends while its products go on.")
            for group in warp.stores:
                for store in group:
                    store()

    # -- parsing ---------------------------------------------------------------------------------

    def parse(self, ptx: str) -> None:
        body = ptx[ptx.index("{", ptx.index(".reqntid")) : ptx.index("$L__func_end0")]
        body = re.sub(r"//[^\n]*", "", body)
        targets = r"([\w$]+):\s*\.branchtargets\s+([^;]*);"
        self.tables = {
            name: [label.strip() for label in labels.split(",")]
            for name, labels in re.findall(targets, body)
        }
        body = re.sub(targets, "", body)
        # inline assembly has braces of its own around lines, within which labels are local
        scope, pieces = 0, []
        for line in body.split("\n"):
            line = line.strip()
            if line == "{":
                scope += 1
            elif line and line != "}" and not line.startswith((".", "{\t.reg")):
                line = re.sub(r"\b(waitLoop|skipWait|same)\b", rf"$\g<1>{scope}", line)
                pieces.append(line)
        self.labels, self.lines, self.code = {}, [], []
        for piece in re.split(r";|(?<=:)\s", "\n".join(pieces).replace(":\n", ":\n;")):
            text = " ".join(piece.split())
            while found := re.match(r"(\$\w+):\s*", text):
                self.labels[found[1]] = len(self.lines)
                text = text[found.end() :]
            if text and not text.startswith("."):
                self.lines.append(text)
        self.code = [self.compile(text) for text in self.lines]

    def compile(self, text: str):
        """A function of a warp that does one instruction."""
        predicate = re.match(r"@(!?)(%?\w+) ", text)
        rest = text[predicate.end() :] if predicate else text
        name, _, operands = rest.partition(" ")
        parts = split(operands)
        if name in ("bra", "bra.uni"):
            return self.branch(predicate, parts[0])
        act = self.instruction(name, parts)
        if predicate is None:
            return act if name in CONTROL else lambda warp: act(warp, None)
        if name in CONTROL:
            raise Fault(f"{text}: under a predicate")
        negated, flag = predicate[1] == "!", predicate[2]

        def guarded(warp):
            lanes = warp.registers[flag] != negated
            if lanes.any():
                act(warp, lanes)

        return guarded

    def branch(self, predicate, label):
        def go(warp):
            taken = True
            if predicate:
                lanes = warp.registers[predicate[2]] != (predicate[1] == "!")
                if lanes.any() != lanes.all():
                    raise Fault("A warp diverges.")
                taken = lanes[0]
            if taken:
                warp.at = self.labels[label]

        return go

    # -- operands --------------------------------------------------------------------------------

    def value(self, text: str, how=U32):
        """A function of a warp to an operand's 32 values."""
        if text.startswith("%tid.x"):
            return lambda warp: (warp.number * 32 + LANES).astype(U32)
        if text.startswith("%ctaid.x"):
            return lambda warp: np.full(32, warp.block.number, U32)
        if text.startswith("%nctaid.x"):
            return lambda warp: np.full(32, self.grid, U32)
        if text[0] == "%":
            return lambda warp: warp.registers[text].view(how)
        if text == "global_smem":
            constant = np.full(32, SHARED, how)
        elif found := re.match(r"\w+_param_(\d+)$", text):
            constant = np.full(32, PARAMETERS + 4096 * int(found[1]), how)
        elif text.startswith("0f"):
            constant = np.full(32, int(text[2:], 16), U32).view(how)
        else:
            size = np.dtype(how).itemsize
            constant = np.full(32, int(text, 0) % (1 << 8 * size), f"u{size}").view(how)
        return lambda warp: constant

    def address(self, text: str):
        """Of [register + offset]: 32 addresses, int64."""
        found = re.match(r"\[\s*([%\w]+)\s*(?:\+\s*(-?\w+))?\s*\]$", text)
        offset = int(found[2] or "0", 0)
        if found[1] == "global_smem":
            return lambda warp: np.full(32, SHARED + offset, I64)
        return lambda warp: warp.registers[found[1]].astype(I64) + offset

    def assign(self, warp, name: str, values: np.ndarray, lanes) -> None:
        if lanes is not None and name in warp.registers:
            values = np.where(lanes, values, warp.registers[name].view(values.dtype))
        warp.registers[name] = values

    def address_of(self, array: np.ndarray) -> int:
        """Of an argument."""
        return next(start for start, words in self.arrays if np.shares_memory(words, array))

    def global_memory(self, address: int) -> tuple[np.ndarray, int]:
        for start, words in self.arrays:
            if start <= address < start + words.nbytes:
                return words, (address - start) // 4
        raise Fault(f"Address {address:#x} belongs to no argument.")

    # -- instructions ----------------------------------------------------------------------------

    def instruction(self, name: str, parts: list[str]):
        for pattern, make in INSTRUCTIONS:
            if found := re.fullmatch(pattern, name):
                return make(self, found, parts)
        raise Fault(f"{name} {', '.join(parts)}: not known here")


def split(operands: str) -> list[str]:
    """Operands at the commas that lie in no bracket."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(operands):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            found.append(operands[start:at].strip())
            start = at + 1
    return [*found, operands[start:].strip()]
