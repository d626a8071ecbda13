"""The lesson: sizes by counting."""

from explainer.learn.lessons.mla import lesson


def test_sizes():
    """DeepSeek-V2: 128 heads of 128, a latent of 512, a rotated key of 64."""
    assert lesson.stored() == {"mha": 32_768, "gqa": 2_048, "mla": 576, "mqa": 256}
