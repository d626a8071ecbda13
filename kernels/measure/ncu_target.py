"""Run what Nsight Compute profiles for the Memory page: each algorithm, one head, fp16, no mask."""

import torch

from .. import flash_attention
from ..spec.algorithms import SERIAL

COMMAND = """\
    ncu --clock-control none --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,\
lts__t_bytes.sum,l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum,\
gpu__time_duration.sum -k "regex:fa[12]_kernel|scores_kernel|softmax_kernel|output_kernel" \
python3 -m kernels.measure.ncu_target
"""

# N, d, side of the square tiles
SHAPES = (
    *((n, 64, 64) for n in (256, 512, 1024, 2048, 4096, 8192, 16384)),
    *((4096, 64, side) for side in (16, 32, 128)),
    *((4096, 128, side) for side in (32, 64, 128)),
)
ORDERS = ("fa2", SERIAL, "standard")

if __name__ == "__main__":
    for n, d, side in SHAPES:
        q, k, v = (torch.randn(1, 1, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
        for order in ORDERS:
            flash_attention(q, k, v, order=order, block_m=side, block_n=side)
            torch.cuda.synchronize()
