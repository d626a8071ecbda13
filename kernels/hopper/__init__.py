"""The Hopper kernels (Gluon): launch wrappers, plans per shape, kernels and their parts."""

from .launch import flash_attention, prepare, why_not

__all__ = ["flash_attention", "prepare", "why_not"]
