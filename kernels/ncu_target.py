"""What Nsight Compute profiles for the Memory page: every order once, one head, 64×64 tiles.

    ncu --clock-control none --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,\
lts__t_bytes.sum,l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum \
-k "regex:fa2_kernel|fa1_kernel|scores_kernel|softmax_kernel|output_kernel" \
python3 -m kernels.ncu_target
"""

import torch

from kernels import flash_attention

SHAPES = ((1024, 64), (4096, 64), (4096, 128))  # N, d

if __name__ == "__main__":
    for n, d in SHAPES:
        q, k, v = (torch.randn(1, 1, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
        for order in ("fa2", "fa1", "standard"):
            flash_attention(q, k, v, order=order, block_m=64, block_n=64)
            torch.cuda.synchronize()
