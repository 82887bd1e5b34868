"""Plan a deployment from contracts and live tables, and find what was applied last."""
