"""Tests of the Learn page's content."""
