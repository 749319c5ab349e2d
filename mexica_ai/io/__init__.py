"""Input and output: errors, strict JSON, numbers, files, texts for a terminal."""
