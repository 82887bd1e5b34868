"""Which files, which revision and which settings count in a run."""
