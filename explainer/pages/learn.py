"""The Learn page: from a dot product to FlashAttention, every claim checked."""

from __future__ import annotations

from explainer.pages.learn_player import LearnPlayer


def build() -> LearnPlayer:
    """Lays the page out inside the caller's tab."""
    return LearnPlayer(elem_id="learn")
