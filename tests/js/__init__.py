"""The browser's pure modules, run by node against what Python says."""
