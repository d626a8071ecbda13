"""One page a file: layout and events, no arithmetic."""
