"""HTTP beside Gradio: routes, assets, the wire format, exports, the guard at the door, logs."""
