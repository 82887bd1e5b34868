"""Pure values and pure functions over them: standard library only, no input or output."""
