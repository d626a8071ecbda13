"""Plain data as HTML, SVG and Plotly figures; no Gradio, and nothing is computed here."""
