"""The kinds of places where tables lie: one module each, found by walking this package."""
