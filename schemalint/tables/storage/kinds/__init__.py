"""The kinds of stores: one module each, found by walking this package."""
