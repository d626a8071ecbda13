"""Bytes on a card: workloads, tile budgets, the levels of memory, capacity, traffic."""
