"""FlashAttention, tile by tile: what was asked, what happens, and how it is shown."""
