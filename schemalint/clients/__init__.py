"""What the clients of Delta tables can read and write: the client table, and the question to it."""
