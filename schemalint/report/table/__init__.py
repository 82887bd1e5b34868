"""A live table as text."""
