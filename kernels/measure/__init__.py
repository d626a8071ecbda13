"""Measuring the kernels: benchmark, timing, memory, traffic, compile reports."""
