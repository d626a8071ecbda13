"""One test for each lesson: its numbers, by another way than the lesson's own."""
