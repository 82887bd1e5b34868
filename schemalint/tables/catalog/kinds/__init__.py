"""The kinds of catalogs: one module each, found by walking this package."""
