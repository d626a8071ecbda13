import torch
from torch import Tensor

Q_TILE_SIZE, K_TILE_SIZE = 16, 16


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q: Tensor, K: Tensor, V: Tensor, is_causal: bool = False) -> Tensor:
        batch, n_queries, d = Q.shape
        n_keys = K.shape[1]
        O, L = torch.zeros_like(Q), torch.zeros(batch, n_queries)
        for i in range(n_queries // Q_TILE_SIZE):
            q0, q1 = i * Q_TILE_SIZE, (i + 1) * Q_TILE_SIZE
            Q_i = Q[:, q0:q1]
            O_i, l_i = torch.zeros_like(Q_i), torch.zeros(batch, Q_TILE_SIZE)
            m_i = torch.full((batch, Q_TILE_SIZE), float("-inf"))
            for j in range(n_keys // K_TILE_SIZE):
                k0, k1 = j * K_TILE_SIZE, (j + 1) * K_TILE_SIZE
                K_j, V_j = K[:, k0:k1], V[:, k0:k1]
                S_ij = Q_i @ K_j.transpose(1, 2) / d**0.5
                if is_causal:
                    rows, cols = torch.arange(q0, q1), torch.arange(k0, k1)
                    S_ij = torch.where(rows[:, None] >= cols, S_ij, -1e6)
                m_ij = torch.maximum(m_i, S_ij.max(dim=-1).values)
                P_ij = torch.exp(S_ij - m_ij[..., None])
                scale_ij = torch.exp(m_i - m_ij)
                l_i = scale_ij * l_i + P_ij.sum(dim=-1)
                O_i = scale_ij[..., None] * O_i + P_ij @ V_j
                m_i = m_ij
            O[:, q0:q1] = O_i / l_i[..., None]
            L[:, q0:q1] = m_i + torch.log(l_i)
        ctx.save_for_backward(Q, K, V, O, L)
        ctx.is_causal = is_causal
        return O

    @staticmethod
    def backward(ctx, dO):
        Q, K, V, O, L = ctx.saved_tensors
        d = Q.shape[-1]
        D = (O * dO).sum(dim=-1)
        S = Q @ K.transpose(1, 2) / d**0.5
        if ctx.is_causal:
            S = S.masked_fill(torch.ones(S.shape[-2:]).triu(1).bool(), float("-inf"))
        P = torch.exp(S - L[..., None])
        dV = P.transpose(1, 2) @ dO
        dP = dO @ V.transpose(1, 2)
        dS = P * (dP - D[..., None])
        return dS @ K / d**0.5, dS.transpose(1, 2) @ Q / d**0.5, dV, None


def get_flashattention_autograd_function_pytorch():
    return FlashAttention
