"""Fill columns in a session, some files at a time, and prove that the drop of a source loses no value."""
