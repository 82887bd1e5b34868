"""Write a table anew from its own rows: the step, its SQL, and a script of several statements."""
