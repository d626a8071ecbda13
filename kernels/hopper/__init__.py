"""The Hopper kernel (Gluon): launch wrapper, plans per shape, the kernel and its parts."""

from .launch import flash_attention, prepare, supports

__all__ = ["flash_attention", "prepare", "supports"]
