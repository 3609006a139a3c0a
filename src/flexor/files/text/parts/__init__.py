"""The tables of a file of a stage, each kind with its words and its faults."""
