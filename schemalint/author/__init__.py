"""What writes contracts: `pull` from live tables, `revert` from older revisions, `init` for a repository."""
