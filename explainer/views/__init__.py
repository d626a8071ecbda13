"""Plain data as HTML and as the JSON that scripts draw; no Gradio, and nothing is computed here."""
