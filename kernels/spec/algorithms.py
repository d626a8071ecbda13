"""The algorithms by key, as addresses and menus have them. The kernel of a key lies in
``kernels/<key>.py``, its loop in ``explainer/algorithms/<key>.py``."""

ORDERS = ("standard", "fa1", "fa2", "fa2_split")
SERIAL = "fa1"  # one program does a whole head
SPLITS = 2  # parts of the keys in fa2_split


def part_of(blocks: int, part: int) -> tuple[int, int]:
    """Return the key blocks, first and one past the last, of this of SPLITS parts; the first parts
    have one block more than the others where the number does not divide."""
    each, more = divmod(blocks, SPLITS)
    start = part * each + min(part, more)
    return start, start + each + (part < more)
