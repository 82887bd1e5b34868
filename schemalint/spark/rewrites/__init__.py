"""Write a table anew in a session, and prove its rows."""
