"""What Delta Lake knows: types, features, protocols, logs. Standard library and sqlglot only."""
