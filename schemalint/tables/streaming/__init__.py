"""The checkpoints and schema logs of streams."""
