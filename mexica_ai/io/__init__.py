"""What comes in and goes out: errors, strict JSON, numbers, files, texts for a terminal."""
