"""The text output of `show`: one live table."""
