"""The room of contact: modes, tables, problems, and one solver for each class of problem."""
