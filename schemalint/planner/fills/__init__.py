"""Fill new columns from old ones: the steps, the one value of a fill, and its SQL."""
