"""The Learn page's content: rungs, widgets, questions, claims. Pure NumPy; drawn by learn.js."""
