"""The schema conventions of Acme: one module per rule. schemalint finds the modules in this package."""
