"""A learner's attention function against the trace: where it goes wrong first, and why."""
