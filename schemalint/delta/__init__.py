"""What Delta Lake knows: types, features, protocols, logs. Standard library only, `expressions` apart."""
