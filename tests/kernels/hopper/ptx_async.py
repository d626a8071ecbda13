"""Instructions of `ptx_machine` that wait, copy by TMA, or multiply by wgmma."""

from dataclasses import dataclass

import numpy as np

from .ptx_values import F32, I32, LANES, U32, Fault, names_in, widen

PARAMETERS = 1 << 30  # where a kernel's parameters are, 4 KiB each


@dataclass
class Map:
    """A tensor map: `array` is the whole tensor, of any strides; the box of one message."""

    array: np.ndarray
    box: tuple[int, ...]
    swizzle: int  # bytes: 0, 32, 64 or 128


@dataclass
class Barrier:
    """An mbarrier."""

    count: int
    pending: int
    bytes: int = 0
    phase: int = 0

    def settle(self) -> None:
        if self.pending < 0:
            raise Fault("An mbarrier has more arrivals in a phase than it counts.")
        if self.pending == 0 and self.bytes == 0:
            self.phase += 1
            self.pending = self.count


def swizzled(address: np.ndarray, width: int) -> np.ndarray:
    """The address with its 16-byte chunk moved as that swizzle does."""
    mask = {0: 0, 32: 0x80, 64: 0x180, 128: 0x380}[width]
    return address ^ ((address & mask) >> 3)


def begin_barrier(m, found, parts):
    at, count = m.address(parts[0]), int(parts[1])

    def act(warp, lanes):
        warp.block.barriers[int(at(warp)[0])] = Barrier(count, count)

    return act


def arrive(m, found, parts):
    at, number = m.address(parts[1]), int(parts[2]) if len(parts) > 2 else 0
    expects = "expect_tx" in found[0]

    def act(warp, lanes):
        one = warp.block.barriers[int(at(warp)[0])]
        one.pending -= 1 if expects else (number or 1)
        one.bytes += number if expects else 0
        one.settle()

    return act


def try_wait(m, found, parts):
    at, parity = m.address(parts[1]), m.value(parts[2])

    def act(warp, lanes):
        one = warp.block.barriers[int(at(warp)[0])]
        wanted = int(parity(warp)[0])
        if wanted not in (0, 1):
            raise Fault(f"A parity of {wanted}.")
        if one.phase % 2 == wanted:  # what is awaited is over when the next phase is there
            warp.waits = lambda: one.phase % 2 != wanted
        m.assign(warp, parts[0], np.ones(32, bool), None)

    return act


def meet(m, found, parts):
    at = m.value(parts[0])

    def act(warp):
        number = int(at(warp)[0])
        everyone = int(parts[1]) // 32 if len(parts) > 1 else m.warps
        arrived, _ = warp.block.meeting.get(number, (set(), None))
        if warp.number in arrived:
            raise Fault(f"Warp {warp.number} is at barrier {number} twice.")
        arrived.add(warp.number)
        warp.block.meeting[number] = arrived, everyone
        if len(arrived) == everyone:
            warp.block.meeting[number] = set(), None
            arrived.add("all")
        elif "arrive" not in found[0]:
            warp.waits = lambda: "all" in arrived

    return act


def fence(m, found, parts):
    def act(warp, lanes):
        warp.block.dirty[warp.block.dirty == warp.number + 1] = 0

    return act


def _box(one: Map, start: list[int], base: int):
    """Of a message: the places in shared memory, row by row, and the part of the tensor that is
    there, as (index of the tensor, index of the box)."""
    size = one.array.itemsize
    places = base + size * np.arange(int(np.prod(one.box)))
    inside, outside = [], []
    for at, n, many in zip(start, one.array.shape, one.box, strict=True):
        low, high = max(at, 0), min(at + many, n)
        high = max(low, high)
        outside.append(slice(low, high))
        inside.append(slice(low - at, high - at))
    return swizzled(places, one.swizzle).reshape(one.box), tuple(outside), tuple(inside)


def _message(m, place: str):
    inner = place.strip("[] ")
    pointer, _, coordinates = inner.partition(",")
    coordinates = [m.value(x) for x in names_in(coordinates.strip())]

    def read(warp, lane):
        one = m.arguments[int(warp.registers[pointer.strip()][lane] - PARAMETERS) // 4096]
        start = [int(c(warp).view(I32)[lane]) for c in reversed(coordinates)]
        return one, start

    return read


def copy_in(m, found, parts):
    to, place, barrier = m.address(parts[0]), _message(m, parts[1]), m.address(parts[2])

    def act(warp, lanes):
        lane = int(np.argmax(lanes)) if lanes is not None else 0
        (one, start), base = place(warp, lane), int(to(warp)[lane])
        block, at = warp.block, int(barrier(warp)[lane])

        def arrived():
            places, outside, inside = _box(one, start, base)
            values = np.zeros(one.box, one.array.dtype)
            values[inside] = one.array[outside]
            block.write(places, values)
            block.barriers[at].bytes -= values.nbytes
            block.barriers[at].settle()

        m.pending.append(arrived)

    return act


def copy_out(m, found, parts):
    place, base_of = _message(m, parts[0]), m.address(parts[1])
    adds = "reduce" in found[0]

    def act(warp, lanes):
        lane = int(np.argmax(lanes)) if lanes is not None else 0
        (one, start), base = place(warp, lane), int(base_of(warp)[lane])

        def leave():
            places, outside, inside = _box(one, start, base)
            warp.block.clean(places, "A copy")
            values = warp.block.read(places, one.array.dtype)[inside]
            one.array[outside] = one.array[outside] + values if adds else values

        if m.late:
            warp.open_stores.append(leave)
        else:
            leave()

    return act


def commit(opened: str, closed: str):
    """An instruction that closes a group of asynchronous operations."""

    def make(m, found, parts):
        def act(warp, lanes):
            getattr(warp, closed).append(getattr(warp, opened))
            setattr(warp, opened, [])

        return act

    return make


def wait_group(closed: str):
    """An instruction that has all groups but the last few done."""

    def make(m, found, parts):
        def act(warp, lanes):
            groups = getattr(warp, closed)
            while len(groups) > int(parts[0]):
                for operation in groups.pop(0):
                    operation()

        return act

    return make


def _matrix(descriptor: int, rows: int, turned: bool, size: int):
    """Places of a wgmma operand (rows, 32 bytes) of elements of 1 or 2 bytes: of A its rows, of B
    its columns."""
    base = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    width = {0: 0, 1: 128, 2: 64, 3: 32}[descriptor >> 62 & 3]
    if not width or descriptor >> 49 & 7:
        raise Fault("A wgmma operand without a swizzle, or with a base offset.")
    r, k = np.arange(rows)[:, None], np.arange(32 // size)[None, :]
    if turned:  # the rows are contiguous
        many = width // 2
        found = r // many * leading + r % many * 2 + k // 8 * stride + k % 8 * width
    else:
        found = r // 8 * stride + r % 8 * width + k * size
    return swizzled(base + found, width)


def product(m, found, parts):
    wide_, element = int(found[1]), found[2]
    size = 1 if element == "e4m3" else 2
    sums, a_from, b_from = names_in(parts[0]), parts[1], parts[2]
    in_registers = a_from.startswith("{")
    keep, turned = parts[3], [int(x) for x in parts[6:]] or [0]
    if parts[4:6] != ["1", "1"]:
        raise Fault("wgmma with a sign")
    group, pair = LANES // 4, LANES % 4
    rows = np.stack([group, group, group + 8, group + 8] * (wide_ // 8))
    columns = np.concatenate(
        [np.stack([8 * j + 2 * pair, 8 * j + 2 * pair + 1] * 2) for j in range(wide_ // 8)]
    )
    bits = np.dtype(f"u{size}")

    def operand(warp):
        if in_registers:
            a = np.zeros((16, 32), np.uint8)
            for n, name in enumerate(names_in(a_from)):
                word = warp.registers[name].view(U32)
                for byte in range(4):
                    a[group + 8 * (n % 2), 4 * pair + 16 * (n // 2) + byte] = word >> 8 * byte
            return a.view(bits)
        places = _matrix(int(warp.registers[a_from][0]), 64, bool(turned[0]), size)
        places = places[16 * (warp.number % 4) :][:16]
        warp.block.clean(places, "wgmma")
        return warp.block.read(places, bits)

    def act(warp, lanes):
        flag = bool(int(keep)) if keep[0] != "%" else bool(warp.registers[keep][0])
        descriptor = int(warp.registers[b_from][0])

        def multiply():
            a = widen(operand(warp), element)
            places = _matrix(descriptor, wide_, bool(turned[-1]), size)
            warp.block.clean(places, "wgmma")
            b = widen(warp.block.read(places, bits), element)
            with np.errstate(all="ignore"):
                c = a @ b.T
                for name, r, column in zip(sums, rows, columns, strict=True):
                    old = warp.registers[name].view(F32) if flag else F32(0)
                    warp.registers[name] = (old + c[r, column]).view(U32)

        if m.late:
            warp.open.append(multiply)
        else:
            multiply()

    return act
