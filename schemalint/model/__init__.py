"""What schemalint knows: contracts, findings, facts, plans. Standard library only, no input or output."""
