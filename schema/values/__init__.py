"""Plain values, texts, files and errors: what every other folder builds on."""
