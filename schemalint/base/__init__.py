"""What crosses the border is bounded, clean and whole: files, HTTP, YAML, output; and errors and values."""
