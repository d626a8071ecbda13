"""The Learn page's content: lessons, widgets, questions, claims. Pure NumPy; drawn by learn.js."""
