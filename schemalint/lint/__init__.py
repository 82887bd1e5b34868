"""Pairs the tables, finds the facts, lets the rules judge them."""
