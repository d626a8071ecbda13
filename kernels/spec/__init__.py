"""The specification: what a Problem can say, for kernels and for the explainer alike.

Masks, scores, dropout, number formats and the table of fields. It is the one part of `kernels` that
every room may import. No module here imports torch or Triton. Those that decide over arrays of rows
and keys import NumPy; `fields` and `texts` need it no more than this package does.
"""
