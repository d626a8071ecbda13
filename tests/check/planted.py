"""Mistakes planted in four right implementations: by key, what each replaces by what."""

from __future__ import annotations

from pathlib import Path

RIGHT = Path(__file__).parent / "right"
NUMPY, TORCH, TRITON, CS336 = "numpy_loop", "torch_loop", "triton_kernel", "cs336_style"

INNER = """for start in range({}, n, block_q):
                rows = torch.arange(start, min(start + block_q, n))
                query, do"""  # the backward pass of torch_loop

# Where each keeps the same step: (old in it) by a name of the step.
STEPS = {
    NUMPY: {
        "o": "o = o * alpha[:, None] + p @ vj",
        "l": "l = l * alpha + p.sum(1)",
        "m": "m_new = np.maximum(m, s.max(1))",
        "m0": "m = np.full(len(qi), -np.inf, np.float32)",
        "s": "s = qi @ kj.T * scale",
        "mask": "s = np.where(rows[:, None] + offset >= cols, s, -np.inf)",
        "p": "p = np.exp(s - safe[:, None])",
        "alpha": "alpha = np.exp(m - safe)",
        "v": "vj = v[j * bc : (j + 1) * bc]",
        "k": "kj = k[j * bc : (j + 1) * bc]",
        "skip": "if causal and j * bc > rows[-1] + offset:",
        "end": "o / np.where(l > 0, l, 1)[:, None]",
        "lse": "m + np.log(l)\n",
        "report": "m = m_new\n            if report:",
        "tiles": "for j in range(tc):",
        "l0": "l = np.zeros(len(qi), np.float32)",
        "heads": "(x[b, h].astype(np.float32) for x in (q, k, v))",
        "scale": "if scale is None else scale",
    },
    TORCH: {
        "o": "acc = alpha.unsqueeze(-1) * acc + p @ value",
        "l": "l = alpha * l + p.sum(-1)",
        "m": "new = torch.maximum(m, s.amax(-1))",
        "m0": "m = torch.full(query.shape[:3], -1e30)",
        "s": 's = torch.einsum("bhid,bhjd->bhij", query, key) * scale',
        "mask": "s = s.masked_fill(rows[:, None] + nk - n < cols, -math.inf)\n                new",
        "p": "p = torch.exp(s - new.unsqueeze(-1))",
        "alpha": "alpha = torch.exp(m - new)",
        "end": "(acc / l.clamp(min=1e-30).unsqueeze(-1))",
        "lse": "m + torch.log(l)",
        "v": "v[:, :, cols].float()",
        "D": "D = (dout * out).sum(-1)",
        "scale": "if scale is None else scale",
        "dv": "dv[:, :, cols] += p.mT @ do",
        "dp": "dp = do @ value.mT",
        "ds": "ds = p * (dp - D[:, :, rows].unsqueeze(-1))",
        "dq": "dq[:, :, rows] += ds @ key * scale",
        "dk": "dk[:, :, cols] += ds.mT @ query * scale",
        "s2": "s = query @ key.mT * scale",
        "rows2": INNER.format("0"),
        "p2": "p = torch.exp(s - lse[:, :, rows].unsqueeze(-1))",
    },
    TRITON: {
        "o": 'acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")',
        "l": "l = l * alpha + tl.sum(p, 1)",
        "m": "new = tl.maximum(m, tl.max(s, 1))",
        "m0": 'm = tl.full([BR], float("-inf"), tl.float32)',
        "s": 's = tl.dot(q, tl.trans(k), input_precision="ieee") * scale',
        "mask": 's = tl.where(rows[:, None] + nk - n >= keys[None, :], s, float("-inf"))',
        "ragged": 's = tl.where(keys[None, :] < nk, s, float("-inf"))',
        "p": "p = tl.exp(s - safe[:, None])",
        "alpha": "alpha = tl.exp(m - safe)",
        "v": "V + at_k",
        "k": "K + at_k",
        "bound": "if CAUSAL:\n        stop",
        "skip": "(i + 1) * BR + nk - n",
        "end": "acc / tl.where(l > 0, l, 1.0)[:, None]",
        "lse": "lse = m + tl.log(l)",
        "store": "L + head * n + rows",
    },
    CS336: {
        "o": "O_i = scale_ij[..., None] * O_i + P_ij @ V_j",
        "l": "l_i = scale_ij * l_i + P_ij.sum(dim=-1)",
        "m": "m_ij = torch.maximum(m_i, S_ij.max(dim=-1).values)",
        "m0": 'm_i = torch.full((batch, Q_TILE_SIZE), float("-inf"))',
        "s": "S_ij = Q_i @ K_j.transpose(1, 2) / d**0.5",
        "mask": "torch.where(rows[:, None] >= cols, S_ij, -1e6)",
        "p": "P_ij = torch.exp(S_ij - m_ij[..., None])",
        "alpha": "scale_ij = torch.exp(m_i - m_ij)",
        "v": "V[:, k0:k1]",
        "k": "K[:, k0:k1]",
        "end": "O_i / l_i[..., None]",
        "lse": "m_i + torch.log(l_i)",
        "m1": "m_i = m_ij\n            O[:",
        "return": "return dS @ K / d**0.5, dS.transpose(1, 2) @ Q / d**0.5, dV, None",
        "D": "D = (O * dO).sum(dim=-1)",
        "dv": "dV = P.transpose(1, 2) @ dO",
        "dp": "dP = dO @ V.transpose(1, 2)",
        "ds": "dS = P * (dP - D[..., None])",
        "dq": "dS @ K / d**0.5,",
        "dk": "dS.transpose(1, 2) @ Q / d**0.5",
        "s2": "S = Q @ K.transpose(1, 2) / d**0.5",
        "p2": "P = torch.exp(S - L[..., None])",
        "mask2": "if ctx.is_causal:",
        "save": "ctx.save_for_backward(Q, K, V, O, L)",
    },
}

# key → implementation → step → what stands there instead
PLANTED: dict[str, dict[str, dict[str, str]]] = {
    "o_not_rescaled": {
        NUMPY: {"o": "o = o + p @ vj"},
        TORCH: {"o": "acc = acc + p @ value"},
        TRITON: {"o": 'acc = tl.dot(p, v, acc, input_precision="ieee")'},
        CS336: {"o": "O_i = O_i + P_ij @ V_j"},
    },
    "l_not_rescaled": {
        NUMPY: {"l": "l = l + p.sum(1)"},
        TORCH: {"l": "l = l + p.sum(-1)"},
        TRITON: {"l": "l += tl.sum(p, 1)"},
        CS336: {"l": "l_i = l_i + P_ij.sum(dim=-1)"},
    },
    "alpha_missing": {
        NUMPY: {"alpha": "alpha = np.ones_like(m)"},
        TORCH: {"alpha": "alpha = torch.exp(new - new)"},
        TRITON: {"alpha": "alpha = tl.exp(safe - safe)"},
        CS336: {"alpha": "m_i = m_ij; scale_ij = torch.exp(m_i - m_ij)"},
    },
    "alpha_inverted": {
        NUMPY: {"alpha": "alpha = np.where(np.isinf(m), 0, np.exp(safe - m))"},
        TORCH: {"alpha": "alpha = torch.where(m < -1e20, 0, torch.exp(new - m))"},
        TRITON: {"alpha": 'alpha = tl.where(m == float("-inf"), 0.0, tl.exp(safe - m))'},
        CS336: {"alpha": "scale_ij = torch.where(m_i.isinf(), 0, torch.exp(m_ij - m_i))"},
    },
    "alpha_applied_twice": {
        NUMPY: {"o": "o = o * alpha[:, None] * alpha[:, None] + p @ vj"},
        TORCH: {"o": "acc = alpha.unsqueeze(-1) ** 2 * acc + p @ value"},
        CS336: {"o": "O_i = scale_ij[..., None] * (scale_ij[..., None] * O_i) + P_ij @ V_j"},
    },
    "m_of_tile_only": {
        NUMPY: {"m": "m_new = s.max(1)"},
        TORCH: {"m": "new = s.amax(-1)"},
        TRITON: {"m": "new = tl.max(s, 1)"},
        CS336: {"m": "m_ij = S_ij.max(dim=-1).values"},
    },
    "max_not_subtracted": {
        NUMPY: {"m": "m_new = np.zeros_like(m)"},
        TORCH: {"m": "new = torch.zeros_like(m)"},
        CS336: {"m": "m_ij = torch.zeros_like(m_i)"},
    },
    "m_starts_at_zero": {
        NUMPY: {"m0": "m = np.zeros(len(qi), np.float32)"},
        TORCH: {"m0": "m = torch.zeros(query.shape[:3])"},
        TRITON: {"m0": "m = tl.zeros([BR], tl.float32)"},
        CS336: {"m0": "m_i = torch.zeros(batch, Q_TILE_SIZE)"},
    },
    "state_forgotten": {
        NUMPY: {"l": "l = p.sum(1)", "o": "o = p @ vj"},
        TORCH: {"l": "l = p.sum(-1)", "o": "acc = p @ value"},
        CS336: {"l": "l_i = P_ij.sum(dim=-1)", "o": "O_i = P_ij @ V_j"},
    },
    "l_forgotten": {
        NUMPY: {"l": "l = p.sum(1)"},
        TORCH: {"l": "l = p.sum(-1)"},
        TRITON: {"l": "l = tl.sum(p, 1)"},
        CS336: {"l": "l_i = P_ij.sum(dim=-1)"},
    },
    "mask_off_by_one": {
        NUMPY: {"mask": "s = np.where(rows[:, None] + offset + 1 >= cols, s, -np.inf)"},
        TORCH: {
            "mask": "s = s.masked_fill(rows[:, None] + nk - n + 1 < cols, -math.inf)\n"
            "                new"
        },
        TRITON: {"mask": 's = tl.where(rows[:, None] + nk - n > keys[None, :], s, float("-inf"))'},
        CS336: {"mask": "torch.where(rows[:, None] + 1 >= cols, S_ij, -1e6)"},
    },
    "mask_missing": {
        NUMPY: {"mask": "pass"},
        TORCH: {"mask": "pass\n                new"},
        TRITON: {"mask": "pass"},
    },
    "mask_transposed": {
        TORCH: {
            "mask": "s = s.masked_fill(rows[:, None] + nk - n > cols, -math.inf)\n"
            "                new"
        },
        CS336: {"mask": "torch.where(rows[:, None] <= cols, S_ij, -1e6)"},
    },
    "mask_in_tile_coordinates": {
        NUMPY: {"mask": "s = np.where(rows[:, None] - i * br >= cols - j * bc, s, -np.inf)"},
        TRITON: {
            "mask": "s = tl.where(tl.arange(0, BR)[:, None] >= tl.arange(0, BC)[None, :], s,"
            ' float("-inf"))'
        },
        CS336: {
            "mask": "S_ij.masked_fill(torch.ones(Q_TILE_SIZE, K_TILE_SIZE).triu(1).bool(), -1e6)"
        },
    },
    "mask_not_aligned": {
        NUMPY: {"mask": "s = np.where(rows[:, None] >= cols, s, -np.inf)"},
        TRITON: {"mask": 's = tl.where(rows[:, None] >= keys[None, :], s, float("-inf"))'},
    },
    "masked_as_zero": {
        NUMPY: {"mask": "s = s * (rows[:, None] + offset >= cols)"},
        TORCH: {"mask": "s = s * (rows[:, None] + nk - n >= cols)\n                new"},
        TRITON: {"mask": "s = tl.where(rows[:, None] + nk - n >= keys[None, :], s, 0.0)"},
        CS336: {"mask": "torch.where(rows[:, None] >= cols, S_ij, 0.0)"},
    },
    "masked_after_sum": {
        NUMPY: {
            "mask": "pass",
            "o": "p = p * (rows[:, None] + offset >= cols) if causal else p\n"
            "            o = o * alpha[:, None] + p @ vj",
        },
    },
    "diagonal_skipped": {
        NUMPY: {"skip": "if causal and (j + 1) * bc - 1 > rows[0] + offset:"},
        TRITON: {"skip": "i * BR + nk - n"},
    },
    "scale_missing": {
        NUMPY: {"s": "s = qi @ kj.T"},
        TORCH: {"s": "s = query @ key.mT"},
        TRITON: {"s": 's = tl.dot(q, tl.trans(k), input_precision="ieee")'},
        CS336: {"s": "S_ij = Q_i @ K_j.transpose(1, 2)"},
    },
    "scale_twice": {
        NUMPY: {"s": "s = (qi * scale) @ kj.T * scale"},
        TORCH: {"s": "s = (query * scale) @ key.mT * scale"},
        TRITON: {"s": 's = tl.dot(q * scale, tl.trans(k), input_precision="ieee") * scale'},
        CS336: {"s": "S_ij = Q_i @ K_j.transpose(1, 2) / d"},
    },
    "scale_inverted": {
        NUMPY: {"s": "s = qi @ kj.T / scale"},
        CS336: {"s": "S_ij = Q_i @ K_j.transpose(1, 2) * d**0.5"},
    },
    "scale_ignored": {
        NUMPY: {"s": "s = qi @ kj.T * np.float32(d**-0.5)"},
        TORCH: {"s": "s = query @ key.mT * q.shape[3]**-0.5"},
    },
    "scale_divides": {NUMPY: {"scale": "if scale is None else 1 / scale"}},
    "scale_times_default": {
        TORCH: {"scale": "* (1 if scale is None else scale)"},
    },
    "scale_in_every_tile": {
        NUMPY: {"s": "qi = qi * scale\n            s = qi @ kj.T"},
        TRITON: {"s": 'q = q * scale\n        s = tl.dot(q, tl.trans(k), input_precision="ieee")'},
        CS336: {
            "s": "Q_i = Q_i / d**0.5\n                S_ij = Q_i @ K_j.transpose(1, 2)",
        },
    },
    "ragged_keys_counted": {
        NUMPY: {
            "k": "kj = np.pad(k[j * bc : (j + 1) * bc], ((0, max(0, (j + 1) * bc - nk)), (0, 0)))",
            "v": "vj = np.pad(v[j * bc : (j + 1) * bc], ((0, max(0, (j + 1) * bc - nk)), (0, 0)))",
        },
        TRITON: {"ragged": "pass"},
    },
    "v_of_wrong_block": {
        NUMPY: {"v": "vj = v[:bc][: len(kj)]"},
        CS336: {"v": "V[:, max(k0 - K_TILE_SIZE, 0):max(k1 - K_TILE_SIZE, K_TILE_SIZE)]"},
        TRITON: {"v": "V + at_k - start * D"},
    },
    "k_of_wrong_block": {
        NUMPY: {"k": "kj = k[max(j - 1, 0) * bc :][: len(k[j * bc : (j + 1) * bc])]"},
        CS336: {"k": "K[:, :K_TILE_SIZE]"},
    },
    "divided_every_tile": {
        NUMPY: {"o": "o = (o * alpha[:, None] + p @ vj) / np.where(l > 0, l, 1)[:, None]"},
        TORCH: {"o": "acc = (alpha.unsqueeze(-1) * acc + p @ value) / l.unsqueeze(-1)"},
        TRITON: {
            "o": "acc = (acc * alpha[:, None] + tl.dot(p, v)) / l[:, None]",
            "end": "acc",
        },
        CS336: {
            "o": "O_i = (scale_ij[..., None] * O_i + P_ij @ V_j) / l_i[..., None]",
            "end": "O_i",
        },
    },
    "never_divided": {
        NUMPY: {"end": "o"},
        TORCH: {"end": "acc"},
        TRITON: {"end": "acc"},
        CS336: {"end": "O_i"},
    },
    "exp_of_base_2": {
        NUMPY: {"p": "p = np.exp2(s - safe[:, None])", "alpha": "alpha = np.exp2(m - safe)"},
        TRITON: {"p": "p = tl.exp2(s - safe[:, None])"},
    },
    "alpha_of_base_2": {
        NUMPY: {"alpha": "alpha = np.exp2(m - safe)"},
        TRITON: {"alpha": "alpha = tl.exp2(m - safe)"},
        CS336: {"alpha": "scale_ij = torch.exp2(m_i - m_ij)"},
    },
    "lse_base_2": {
        NUMPY: {"lse": "m * np.float32(1.4426950408889634) + np.log2(l)\n"},
        TORCH: {"lse": "m * math.log2(math.e) + torch.log2(l)"},
        TRITON: {"lse": "lse = m * 1.4426950408889634 + tl.log2(l)"},
        CS336: {"lse": "m_i / 0.6931471805599453 + torch.log2(l_i)"},
    },
    "lse_without_m": {
        NUMPY: {"lse": "np.log(l)\n"},
        TRITON: {"lse": "lse = tl.log(l)"},
    },
    "lse_without_log": {
        TORCH: {"lse": "m + l"},
        CS336: {"lse": "m_i + l_i"},
    },
    "lse_is_m": {TORCH: {"lse": "m"}},
    "empty_rows_nan": {
        NUMPY: {"end": "o / l[:, None]"},
        TRITON: {"end": "acc / l[:, None]"},
    },
    "d_missing": {
        TORCH: {"ds": "ds = p * dp"},
        CS336: {"ds": "dS = P * dP"},
    },
    "d_added": {
        TORCH: {"ds": "ds = p * (dp + D[:, :, rows].unsqueeze(-1))"},
        CS336: {"ds": "dS = P * (dP + D[..., None])"},
    },
    "d_of_tile_only": {
        TORCH: {"ds": "ds = p * (dp - (p * dp).sum(-1, keepdim=True))"},
    },
    "dq_scale_missing": {
        TORCH: {"dq": "dq[:, :, rows] += ds @ key"},
        CS336: {"dq": "dS @ K,"},
    },
    "dk_scale_missing": {
        TORCH: {"dk": "dk[:, :, cols] += ds.mT @ query"},
        CS336: {"dk": "dS.transpose(1, 2) @ Q"},
    },
    "gradient_scaled_twice": {
        TORCH: {"ds": "ds = p * (dp - D[:, :, rows].unsqueeze(-1)) * scale"},
        CS336: {"ds": "dS = P * (dP - D[..., None]) / d**0.5"},
    },
    "scale_missing_in_backward": {
        TORCH: {"s2": "s = query @ key.mT"},
        CS336: {"s2": "S = Q @ K.transpose(1, 2)"},
    },
    "p_not_normalized": {
        TORCH: {"p2": "p = torch.exp(s)"},
        CS336: {"p2": "P = torch.exp(S)"},
    },
    "exp_of_base_2_in_backward": {
        TORCH: {"p2": "p = torch.exp2(s - lse[:, :, rows].unsqueeze(-1))"},
        CS336: {"p2": "P = torch.exp2(S - L[..., None])"},
    },
    "p_not_transposed": {
        TORCH: {"dv": "dv[:, :, cols] += (p if len(rows) == len(cols) else p.mT) @ do"},
    },
    "ds_not_transposed": {
        TORCH: {
            "dk": "dk[:, :, cols] += (ds if len(rows) == len(cols) else ds.mT) @ query * scale"
        },
    },
    "p_missing_in_ds": {
        TORCH: {"ds": "ds = dp - D[:, :, rows].unsqueeze(-1)"},
        CS336: {"ds": "dS = dP - D[..., None]"},
    },
    "dp_of_o": {
        TORCH: {"dp": "dp = out[:, :, rows] @ value.mT"},
        CS336: {"dp": "dP = O @ V.transpose(1, 2)"},
    },
    "dq_overwritten": {TORCH: {"dq": "dq[:, :, rows] = ds @ key * scale"}},
    "dk_dv_overwritten": {
        TORCH: {
            "dv": "dv[:, :, cols] = p.mT @ do",
            "dk": "dk[:, :, cols] = ds.mT @ query * scale",
        },
    },
    "mask_missing_in_backward": {
        CS336: {"mask2": "if False:"},
    },
    "alpha_after_sum": {
        NUMPY: {"o": "o = (o + p @ vj) * alpha[:, None]"},
        TORCH: {"o": "acc = (acc + p @ value) * alpha.unsqueeze(-1)"},
        TRITON: {"o": 'acc = (acc + tl.dot(p, v, input_precision="ieee")) * alpha[:, None]'},
        CS336: {"l": "l_i = scale_ij * (l_i + P_ij.sum(dim=-1))"},
    },
    "p_of_old_maximum": {
        NUMPY: {"p": "p = np.exp(s - np.where(np.isinf(m), safe, m)[:, None])"},
    },
    "p_of_tile_maximum": {
        NUMPY: {"p": "p = np.exp(s - np.where(np.isinf(s.max(1)), 0, s.max(1))[:, None])"},
        CS336: {"p": "P_ij = torch.exp(S_ij - S_ij.max(dim=-1, keepdim=True).values)"},
    },
    "alpha_of_tile_maximum": {
        NUMPY: {"alpha": "alpha = np.exp(m - s.max(1))"},
        CS336: {"alpha": "scale_ij = torch.exp(m_i - S_ij.max(dim=-1).values)"},
    },
    "m_of_all_rows": {
        NUMPY: {"m": "m_new = np.maximum(m, s.max())"},
        CS336: {"m": "m_ij = torch.maximum(m_i, S_ij.max())"},
    },
    "l_summed_over_rows": {
        NUMPY: {"l": "l = l * alpha + p.sum(0 if p.shape[0] == p.shape[1] else 1)"},
        CS336: {"l": "l_i = scale_ij * l_i + P_ij.sum(dim=-2)"},
    },
    "scale_of_other_size": {
        CS336: {"s": "S_ij = Q_i @ K_j.transpose(1, 2) / n_keys**0.5"},
        NUMPY: {"s": "s = qi @ kj.T * np.float32(nk**-0.5)"},
    },
    "operands_mixed_up": {
        CS336: {"v": "K[:, k0:k1]"},
        NUMPY: {"v": "vj = k[j * bc : (j + 1) * bc]"},
        TRITON: {"v": "K + at_k"},
    },
    "p_normalized_in_tile": {
        NUMPY: {
            "o": "o = o * alpha[:, None] + (p / np.maximum(p.sum(1, keepdims=True), 1e-30)) @ vj"
        },
        CS336: {"p": "P_ij = torch.softmax(S_ij, dim=-1)", "end": "O_i"},
    },
    "multiplied_by_l": {
        NUMPY: {"end": "o * l[:, None]"},
        CS336: {"end": "O_i * l_i[..., None]"},
    },
    "lse_of_log_2": {
        NUMPY: {"lse": "m + np.log2(l)\n"},
        TRITON: {"lse": "lse = m + tl.log2(l)"},
    },
    "lse_subtracts_log": {
        TORCH: {"lse": "m - torch.log(l)"},
    },
    "key_block_left_out": {
        NUMPY: {"skip": "if j == tc - 1 or causal and j * bc > rows[-1] + offset:"},
    },
    "d_outside": {
        TORCH: {"ds": "ds = p * dp - D[:, :, rows].unsqueeze(-1)"},
        CS336: {"ds": "dS = P * dP - D[..., None]"},
    },
    "d_minus_dp": {
        CS336: {"ds": "dS = P * (D[..., None] - dP)"},
    },
    "d_of_other_tensors": {
        TORCH: {"D": "D = dout.sum(-1)"},
        CS336: {"D": "D = (V * dO).sum(dim=-1)"},
    },
    "d_of_other_head": {
        TORCH: {"D": "D = (dout * out).sum(-1).roll(-1, 1)"},
        CS336: {"D": "D = (O * dO).sum(dim=-1)[:1]"},
    },
    "lse_of_other_head_in_backward": {
        TORCH: {"p2": "p = torch.exp(s - lse[:, :1, rows].unsqueeze(-1))"},
    },
    "ds_scale_missing": {
        TORCH: {"dq": "dq[:, :, rows] += ds @ key", "dk": "dk[:, :, cols] += ds.mT @ query"},
        CS336: {"dq": "dS @ K,", "dk": "dS.transpose(1, 2) @ Q"},
    },
    "scale_ignored_in_backward": {
        TORCH: {"s2": "scale = q.shape[-1] ** -0.5\n                s = query @ key.mT * scale"},
    },
    "p_divided_by_lse": {
        TORCH: {"p2": "p = torch.exp(s) / lse[:, :, rows].unsqueeze(-1)"},
        CS336: {"p2": "P = torch.exp(S) / L[..., None]"},
    },
    "p_of_two_powers": {
        TORCH: {"p2": "p = torch.exp(s) / torch.exp(lse[:, :, rows].unsqueeze(-1))"},
    },
    "ds_transposed_for_dq": {
        CS336: {"dq": "dS.transpose(1, 2) @ K / d**0.5,"},
    },
    "dp_of_k": {
        TORCH: {"dp": "dp = do @ key.mT"},
        CS336: {"dp": "dP = dO @ K.transpose(1, 2)"},
    },
    "dv_of_other_factors": {
        TORCH: {"dv": "dv[:, :, cols] += p.mT @ out[:, :, rows]"},
        CS336: {"dv": "dV = P.transpose(1, 2) @ O"},
    },
    "dk_of_other_factors": {
        TORCH: {"dk": "dk[:, :, cols] += p.mT @ query * scale"},
        CS336: {"dk": "P.transpose(1, 2) @ Q / d**0.5"},
    },
    "dq_of_other_factors": {
        TORCH: {"dq": "dq[:, :, rows] += p @ key * scale"},
        CS336: {"dq": "dS @ V / d**0.5,"},
    },
    "gradients_overwritten": {
        TORCH: {
            "dv": "dv[:, :, cols] = p.mT @ do",
            "dk": "dk[:, :, cols] = ds.mT @ query * scale",
            "dq": "dq[:, :, rows] = ds @ key * scale",
        },
    },
    "mask_not_wanted_in_backward": {
        CS336: {"mask2": "if True:"},
    },
    "m_of_tile_kept": {
        NUMPY: {"report": "m = s.max(1)\n            if report:"},
        CS336: {"m1": "m_i = S_ij.max(dim=-1).values\n            O[:"},
    },
    "skipped_without_mask": {
        NUMPY: {"skip": "if j * bc > rows[-1] + offset:"},
        TRITON: {"bound": "if True:\n        stop"},
    },
    "kv_of_other_head": {
        TRITON: {
            "v": "V + keys[:, None] * D + dims[None, :]",
            "k": "K + keys[:, None] * D + dims[None, :]",
        },
    },
    "gradients_swapped": {
        CS336: {"return": "return dS @ K / d**0.5, dV, dS.transpose(1, 2) @ Q / d**0.5, None"},
    },
    "old_added_twice": {
        NUMPY: {"l": "l += l * alpha + p.sum(1)"},
        CS336: {"o": "O_i += scale_ij[..., None] * O_i + P_ij @ V_j"},
    },
    "state_of_other_rows": {
        NUMPY: {
            "m0": "m = m[: len(qi)] if i else np.full(len(qi), -np.inf, np.float32)",
            "l0": "l = l[: len(qi)] if i else np.zeros(len(qi), np.float32)",
        },
    },
    "mask_in_equal_tiles_only": {
        NUMPY: {
            "mask": "s = np.where((rows[:, None] + offset >= cols) | (i != j), s, -np.inf)",
        },
    },
    "mask_counts_by_other_size": {
        TORCH: {
            "mask": "at = start // block_q * block_k + torch.arange(len(rows))\n"
            "                    s = s.masked_fill(at[:, None] + nk - n < cols, -math.inf)\n"
            "                new"
        },
    },
    "masked_too_little": {
        NUMPY: {"mask": "s = np.where(rows[:, None] + offset >= cols, s, np.float32(-1))"},
        CS336: {"mask": "torch.where(rows[:, None] >= cols, S_ij, S_ij - 10)"},
    },
    "below_diagonal_skipped": {
        NUMPY: {"skip": "if causal and not rows[0] - bc < j * bc - offset <= rows[-1]:"},
    },
    "row_block_left_out": {
        NUMPY: {"skip": "if i == tr - 1 or causal and j * bc > rows[-1] + offset:"},
    },
    "tile_visited_twice": {
        NUMPY: {"tiles": "for j in [0, *range(tc)]:"},
    },
    "ragged_keys_repeated": {
        NUMPY: {
            "k": "kj = k[np.minimum(np.arange(j * bc, (j + 1) * bc), nk - 1)]",
            "v": "vj = v[np.minimum(np.arange(j * bc, (j + 1) * bc), nk - 1)]",
        },
    },
    "keys_beyond_rows_masked": {
        NUMPY: {"s": "s = np.where(cols < n, qi @ kj.T * scale, -np.inf)"},
    },
    "q_of_other_head": {
        NUMPY: {"heads": "(x.astype(np.float32) for x in (q[b, 0], k[b, h], v[b, h]))"},
    },
    "k_not_transposed": {
        CS336: {"s": "S_ij = Q_i @ K_j / d**0.5"},
    },
    "p_transposed": {
        CS336: {"o": "O_i = scale_ij[..., None] * O_i + P_ij.transpose(1, 2) @ V_j"},
    },
    "alpha_along_columns": {
        CS336: {"o": "O_i = scale_ij[:, None] * O_i + P_ij @ V_j"},
    },
    "divided_by_running_l": {
        NUMPY: {"o": "o = o * alpha[:, None] + p / l[:, None] @ vj", "end": "o"},
        CS336: {
            "o": "O_i = scale_ij[..., None] * O_i + (P_ij / l_i[..., None]) @ V_j",
            "end": "O_i",
        },
    },
    "divided_by_lse": {
        TORCH: {"end": "(acc / (m + torch.log(l)).unsqueeze(-1))"},
    },
    "exp_with_wrong_factor": {
        TRITON: {
            "p": "p = tl.exp((s - safe[:, None]) * 1.4426950408889634)",
            "alpha": "alpha = tl.exp((m - safe) * 1.4426950408889634)",
        },
        NUMPY: {"p": "p = np.exp((s - safe[:, None]) * 1.4426950408889634)"},
    },
    "alpha_with_wrong_factor": {
        TRITON: {"alpha": "alpha = tl.exp((m - safe) * 1.4426950408889634)"},
    },
    "lse_of_other_log": {TORCH: {"lse": "m + torch.log1p(l)"}},
    "lse_negative": {CS336: {"lse": "-m_i - torch.log(l_i)"}},
    "d_along_keys": {CS336: {"ds": "dS = P * (dP - D[:, None, :])"}},
    "ds_of_other_formula": {CS336: {"ds": "dS = P * (1 - P) * dP"}},
    "dv_scaled": {CS336: {"dv": "dV = P.transpose(1, 2) @ dO / d**0.5"}},
    "gradient_scaled_in_every_tile": {
        TORCH: {"dq": "dq[:, :, rows] = (dq[:, :, rows] + ds @ key) * scale"},
    },
    "p_of_m": {CS336: {"p2": "P = torch.exp(S - S.max(dim=-1, keepdim=True).values)"}},
    "p_of_negative_lse": {CS336: {"p2": "P = torch.exp(S + L[..., None])"}},
    "p_of_lse_in_other_units": {
        CS336: {"p2": "P = torch.exp2(S * 1.4426950408889634 - L[..., None])"},
    },
    "v_not_transposed": {
        TORCH: {"dp": "dp = do @ (value if value.shape[2] == value.shape[3] else value.mT)"},
    },
    "upstream_ignored": {
        TORCH: {
            "D": "dout = torch.ones_like(dout)\n        D = (dout * out).sum(-1)",
        },
    },
    "read_at_keys": {CS336: {"p2": "P = torch.exp(S - L[:, None, :])"}},
    "written_at_other_rows": {
        TORCH: {"dq": "dq[:, :, cols if len(cols) == len(rows) else rows] += ds @ key * scale"},
    },
    "gradient_zero": {CS336: {"dq": "torch.zeros_like(Q),"}},
    "kv_of_other_head_in_backward": {TORCH: {"dp": "dp = do @ value[:, :1].mT"}},
    "alpha_on_new_part": {
        TORCH: {
            "l": "l = l + alpha * p.sum(-1)",
            "o": "acc = acc + alpha.unsqueeze(-1) * (p @ value)",
        },
    },
    "l_of_other_sum": {TORCH: {"l": "l = alpha * l + p.amax(-1)"}},
    "gradient_scale_inverted": {CS336: {"dk": "dS.transpose(1, 2) @ Q * d**0.5"}},
    "gradient_of_other_block": {
        TORCH: {
            "dv": "dv[:, :, cols] += p.mT @ do\n                "
            "dv[:, :, cols] += 0 if not first or start else dv[:, :, cols - block_k]",
        },
    },
    "rounded_to_integers": {TORCH: {"l": "l = (alpha * l + p.sum(-1)).floor()"}},
    "rounded_to_16_bits": {
        TORCH: {"p": "p = torch.exp(s - new.unsqueeze(-1)).half().float()"},
    },
    "gradients_in_one_array": {
        TORCH: {
            "dv": "dv[:, :, cols] += p.mT @ do\n                dk = dv",
        },
    },
    "heads_at_strides_of_q": {
        TRITON: {"v": "V + at_k + head * (n - nk) * D"},
    },
    "heads_read_in_other_order": {
        NUMPY: {
            "heads": "(x[b, h].astype(np.float32) for x in (q, k, "
            "v.reshape(len(v), -1, *v.shape[1::2]).swapaxes(1, 2)))"
        },
    },
    "divided_by_l_again": {
        CS336: {
            "p2": "P = torch.exp(S - L[..., None])\n        P = P * torch.exp("
            "S.max(dim=-1, keepdim=True).values - L[..., None])"
        },
    },
    "m_along_columns": {
        NUMPY: {
            "p": "p = np.exp(s - safe[None, :] if s.shape[0] == s.shape[1] else s - safe[:, None])"
        },
    },
    "p_of_m_in_other_units": {TORCH: {"p": "p = torch.exp(s - new.unsqueeze(-1) / scale)"}},
    "alpha_of_unscaled_scores": {TRITON: {"alpha": "alpha = tl.exp((m - safe) / scale)"}},
    "gradient_of_other_base": {CS336: {"dq": "dS @ K / d**0.5 * 0.6931471805599453,"}},
    "lse_of_other_head": {
        TRITON: {"store": "L + (tl.num_programs(1) - 1 - head) * n + rows"},
    },
    "skipped_without_mask_in_backward": {
        TORCH: {"rows2": INNER.format("first // block_q * block_q")},
    },
    "l_starts_at_one": {
        NUMPY: {
            "m0": "m = np.zeros(len(qi), np.float32)",
            "l0": "l = np.ones(len(qi), np.float32)",
        },
    },
    "alpha_of_tile_before": {
        NUMPY: {"alpha": "alpha, late = (late if j else safe), np.exp(m - safe)"},
    },
    "alpha_only_at_large_steps": {
        TORCH: {"alpha": "alpha = torch.exp(torch.where(new - m > 2, m - new, 0 * m))"},
    },
    "output_added_after_next_alpha": {
        NUMPY: {
            "m0": "m, late = np.full(len(qi), -np.inf, np.float32), 0.0",
            "o": "o, late = o * alpha[:, None] + late, p @ vj",
            "end": "(o + late) / np.where(l > 0, l, 1)[:, None]",
        },
    },
    "masked_by_product_in_backward": {
        CS336: {
            "mask2": "if False:",
            "p2": "P = torch.exp(S - L[..., None])\n"
            "        P = P * torch.ones(P.shape[-2:]).tril() if ctx.is_causal else P",
        },
    },
    "row_blocks_in_other_order": {
        CS336: {
            "save": "O = torch.cat(O.split(Q_TILE_SIZE, 1)[::-1], 1)\n"
            "        ctx.save_for_backward(Q, K, V, O, L)"
        },
    },
    "keys_end_at_first_row": {
        NUMPY: {
            "mask": "s = np.where(rows[0] + offset >= cols, s, -np.inf)",
        },
    },
    "lse_of_old_maximum": {
        CS336: {"m1": "m_old, m_i = m_i, m_ij\n            O[:", "lse": "m_old + torch.log(l_i)"},
    },
    "divided_by_old_l": {
        CS336: {
            "l": "l_old, l_i = l_i, scale_ij * l_i + P_ij.sum(dim=-1)",
            "end": "O_i / l_old[..., None]",
        },
    },
    "mask_counts_from_tile_number": {
        NUMPY: {
            "mask": "s = np.where(rows[:, None] + offset >= j + np.arange(len(kj)), s, -np.inf)"
        },
    },
    "last_row_not_stored": {
        NUMPY: {
            "end": "np.vstack([(o / np.where(l > 0, l, 1)[:, None])[:-1], 0 * o[-1:]])",
            "lse": "np.append((m + np.log(l))[:-1], -np.inf)\n",
        },
    },
}


def plant(key: str | None, implementation: str) -> str:
    """Return the source of an implementation with a mistake, or none. A step must stand there once
    for each place that the mistake changes."""
    source = (RIGHT / f"{implementation}.py").read_text(encoding="utf-8")
    for step, new in PLANTED[key][implementation].items() if key else ():
        old = STEPS[implementation][step]
        assert source.count(old) == 1, (key, implementation, step, source.count(old))
        source = source.replace(old, new)
    return source
