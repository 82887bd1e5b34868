"""The schema conventions of Acme: one module per rule, found by walking this package."""
