"""What is checked before the first statement of a table runs."""
