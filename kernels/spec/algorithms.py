"""The algorithms by key, as addresses and menus have them. The kernel of a key lies in
``kernels/<key>.py``, its loop in ``explainer/algorithms/<key>.py``."""

ORDERS = ("standard", "fa1", "fa2")
