"""What attention computes tile by tile: inputs, masks, tilings, and one file per algorithm."""
