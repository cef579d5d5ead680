"""Jobs that are told as graphs of what each rank does: between those and the operations of a trace."""
