"""Level 0: what a newcomer asks before FlashAttention, as questions of our own. Each is answered by
a rung of the ladder, and by a computation that stands below it once it is answered.

The list is that of the note "FlashAttention2", QTCM (questions that came to mind): norm, dot
product, matrix product, softmax and its axis, SRAM and DRAM, the maximum, tiling, the causal mask,
masks of 0 and 1, kernel fusion, mixed precision; and the worked example "The cat sat". Each code is
run with PyTorch by tests/learn/test_level0.py: ``answer`` must come out as the question says.
"""

from __future__ import annotations

import numpy as np

from explainer.learn import level0_shown
from explainer.learn.blocks import Widget, code
from explainer.learn.content import CHOICE, CLICK, NUMBER, ORDER, Known, Question
from explainer.learn.level0_shown import CAT_SCORES, LEFT, PAIR, RIGHT
from explainer.learn.rungs_low import softmax


def _cells(x: np.ndarray) -> str:
    """A small matrix of whole numbers in one line."""
    return "[" + ", ".join("[" + ", ".join(str(v) for v in row) + "]" for row in x.tolist()) + "]"


KNOWN = (
    Known(
        "The length of a vector",
        "dot",
        Question(
            "known-norm", NUMBER, "What is the length (the L2 norm) of the vector [3, 4]?",
            answer=5.0, tolerance=0.001,
            reasons=("Square, add, take the root: √(9 + 16).",
                     "Square the numbers, add them, and take the square root of the sum."),
        ),
        level0_shown.norm,
        "u = torch.tensor([3.0, 4.0])\nanswer = torch.linalg.vector_norm(u).item()",
    ),
    Known(
        "A dot product",
        "dot",
        Question(
            "known-dot", NUMBER, "What is the dot product of [1, 2, 3] and [4, 5, 6]?",
            answer=32.0, tolerance=0.001,
            reasons=("1·4 + 2·5 + 3·6.",
                     "Multiply place by place, then add the three products."),
        ),
        level0_shown.dot,
        "u = torch.tensor([1.0, 2.0, 3.0])\nv = torch.tensor([4.0, 5.0, 6.0])\n"
        "answer = torch.dot(u, v).item()",
    ),
    Known(
        "A matrix product",
        "matmul",
        Question(
            "known-product", CHOICE,
            f"A = {_cells(LEFT)} and B = {_cells(RIGHT)}. What is A B?",
            options=(
                (_cells(LEFT * RIGHT), "That multiplies cell by cell (A * B in PyTorch). The "
                 "product of matrices takes a row times a column."),
                (_cells(LEFT @ RIGHT), "Each cell is a row of A times a column of B, such as "
                 "3·2 + 4·1 = 10 below at the left."),
                (_cells(RIGHT @ LEFT), "That is B A. The order matters."),
                (_cells((LEFT @ RIGHT).T), "That is A B with rows and columns exchanged."),
            ),
            answer=1,
        ),
        level0_shown.product,
        "A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nB = torch.tensor([[2.0, 0.0], [1.0, 3.0]])\n"
        "answer = A @ B",
    ),
    Known(
        "The largest share",
        "softmax",
        Question(
            "known-share", NUMBER,
            "Softmax of [1, 2, 3]: the 3 gets the largest share. How large is it, to two digits?",
            answer=float(softmax(PAIR[:1])[0, 2]), tolerance=0.005,
            reasons=("exp(3) / (exp(1) + exp(2) + exp(3)): two thirds, near enough.",
                     "Divide exp(3) = 20.1 by the sum of exp(1) = 2.7, exp(2) = 7.4 and "
                     "exp(3)."),
        ),
        level0_shown.share,
        "x = torch.tensor([1.0, 2.0, 3.0])\nanswer = F.softmax(x, dim=0)[2].item()",
    ),
    Known(
        "Which axis",
        "softmax",
        Question(
            "known-axis", CHOICE,
            "x = [[1, 2, 3], [4, 5, 6]]. What does softmax with dim = 1 give? (And with dim = 1 "
            "of a plain vector?)",
            options=(
                ("Two rows that are alike; of a vector, an error",
                 "Along a row only differences count, and both rows rise by 1. A vector has "
                 "no second axis, so PyTorch raises IndexError."),
                ("Two rows that are alike; of a vector, the same as dim = 0",
                 "A vector has only dim = 0 (which is also −1). PyTorch raises IndexError for 1."),
                ("A first row near 0 and a second row near 1; of a vector, an error",
                 "That is dim = 0: each column shares out 1 between its two numbers."),
            ),
            answer=0,
        ),
        level0_shown.axis,
        "x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\n"
        "rows, columns = F.softmax(x, dim=1), F.softmax(x, dim=0)\n"
        "answer = torch.allclose(rows[0], rows[1])\n"
        "F.softmax(x[0], dim=1)  # IndexError: a vector has no axis 1",
    ),
    Known(
        "Two kinds of memory",
        "tiles_why",
        Question(
            "known-memory", CHOICE, "Which is faster to reach, DRAM or SRAM, and why?",
            options=(
                ("DRAM: it is the larger one",
                 "Size costs speed here: the large memory is the far, slow one."),
                ("SRAM: it sits on the chip, and its cells need neither refresh nor recharge",
                 "It pays with room: about six transistors a bit, where DRAM has one and a "
                 "capacitor. So there is little of it."),
                ("They are alike; only their sizes differ",
                 "Shared memory and HBM of one card are an order of magnitude apart in rate, and "
                 "in the time to a first byte as well."),
            ),
            answer=1,
        ),
        level0_shown.memory,
    ),
    Known(
        "Why subtract the maximum",
        "safe",
        Question(
            "known-maximum", CHOICE,
            "Why is the largest number subtracted from all before a softmax?",
            options=(
                ("To bring the numbers closer together",
                 "All differences stay as they are: that is why the weights do."),
                ("So that exp cannot overflow",
                 "No exponent is above 0, so no exp is above 1. The weights do not change."),
                ("To put them in order", "Nothing is moved."),
                ("To make the GPU faster", "It costs a pass over the row. It is done for safety."),
            ),
            answer=1,
        ),
        level0_shown.maximum,
        "x = torch.tensor([1000.0, 1001.0, 1002.0])\nbare = x.exp() / x.exp().sum()  # all NaN\n"
        "safe = (x - x.max()).exp()\nanswer = safe / safe.sum()",
    ),
    Known(
        "What tiles are for",
        "tiles_why",
        Question(
            "known-tiles", CHOICE, "What does cutting a computation into tiles gain on a GPU?",
            options=(
                ("Easier allocation of memory", "It takes more bookkeeping, not less."),
                ("A block is brought on chip once and used there many times",
                 "Fewer trips to the slow memory, and blocks that can be worked on side by "
                 "side."),
                ("Fewer operations", "Every product is still computed."),
                ("A better model", "The result is the same, to rounding."),
            ),
            answer=1,
        ),
        level0_shown.tiles,
    ),
    Known(
        "One word's weights",
        "cat",
        Question(
            "known-cat", NUMBER,
            "“The cat sat”: the scores of “cat” are 2.1, 6.5 and 3.4. What weight does “cat” give "
            "itself, to two digits?",
            answer=float(softmax(CAT_SCORES)[0, 1]), tolerance=0.005,
            reasons=("exp turns a lead of 3.1 into a factor of 22. Sketches often "
                     "write 0.80 here.",
                     "exp(6.5) divided by exp(2.1) + exp(6.5) + exp(3.4). A lead of 3.1 is a "
                     "factor of 22, so it is more than the 0.80 that sketches often write."),
        ),
        level0_shown.cat,
        "scores = torch.tensor([2.1, 6.5, 3.4])\nanswer = F.softmax(scores, dim=-1)[1].item()",
    ),
    Known(
        "A causal mask",
        "mask",
        Question(
            "known-causal", CLICK,
            "Scores of four tokens, a row for each query. Click every cell that a causal language "
            "model must set to −∞.",
            cells=tuple(tuple(f"q{r} k{c}" for c in range(4)) for r in range(4)),
            answer=tuple((r, c) for r in range(4) for c in range(r + 1, 4)),
            reasons=("Whatever stands to the right of the diagonal is a later token.",
                     "A token may look at itself and back. Hidden is every key with a larger "
                     "number than its query."),
        ),
        level0_shown.causal,
        "scores = torch.tensor([1.0, 2.0, 3.0, 4.0]).repeat(4, 1)\n"
        "hidden = torch.ones(4, 4).tril() == 0\nanswer = hidden.nonzero().tolist()\n"
        'weights = F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)',
    ),
    Known(
        "A mask of 0 and 1",
        "mask",
        Question(
            "known-zero-one", ORDER,
            "mask holds a 1 where a key must be hidden. Order the lines so that softmax gives the "
            "hidden keys no weight, and fill the gap.",
            options=(
                ("scores = Q @ K.T / K.shape[1] ** 0.5", "Scores first: they are what is masked."),
                ('scores = scores.masked_fill(mask == 1, float("___"))',
                 "exp(−inf) is 0. With 0 in its place a hidden key would weigh exp(0) = 1 before "
                 "the division."),
                ("P = F.softmax(scores, dim=-1)", "Along each row, after the mask."),
                ("O = P @ V", "Hidden keys now add 0 times their value."),
            ),
            gaps=((1, ("0", "1", "-inf"), "-inf"),),
        ),
        level0_shown.zero_one,
        "scores = torch.arange(1.0, 10.0).reshape(3, 3)\n"
        "mask = torch.tensor([[0, 0, 1], [0, 1, 1], [0, 0, 0]])\n"
        'answer = F.softmax(scores.masked_fill(mask == 1, float("-inf")), dim=-1)',
    ),
    Known(
        "Why one kernel",
        "fusion",
        Question(
            "known-fusion", CHOICE, "Why does FlashAttention need its steps fused in one kernel?",
            options=(
                ("For a more accurate model", "The result is the same, to rounding."),
                ("So that S and P never travel to memory and back",
                 "What lies between Q Kᵀ, softmax and P V stays on chip."),
                ("To store larger models on disk", "Nothing on disk changes."),
                ("To make the formula simpler", "It becomes harder: softmax must work in parts."),
            ),
            answer=1,
        ),
        level0_shown.fusion,
    ),
    Known(
        "Why 16 bits",
        "formats",
        Question(
            "known-sixteen", CHOICE,
            "What is the main reason for fp16 or bf16 as the format of Q, K and V?",
            options=(
                ("To avoid underflow", "fp16 underflows sooner than fp32; bf16 nearly as late."),
                ("More precision", "Less: 10 or 7 mantissa bits where fp32 has 23."),
                ("Half the bytes, and products many times as fast",
                 "m, ℓ and the sums stay in fp32. That S takes half the room is no reason "
                 "here: FlashAttention never stores it."),
                ("Softmax works in 16 bits only", "It is computed in fp32, where precision "
                 "counts."),
            ),
            answer=2,
        ),
        level0_shown.sixteen,
    ),
)  # fmt: skip

WIDGETS = tuple(
    Widget(
        known.question.key,
        f"{known.title}: computed",
        (),
        lambda _, known=known: [
            *known.show(), *([code("The same in PyTorch", known.code)] if known.code else []),
        ],
    )
    for known in KNOWN
)  # fmt: skip
