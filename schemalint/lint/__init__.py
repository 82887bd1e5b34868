"""Pair tables, find facts, and ask the rules."""
