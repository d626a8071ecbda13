"""What everything else stands on: fields and their sentences, formats, cards, records, paths."""
