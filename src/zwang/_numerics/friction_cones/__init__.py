"""Contact forces with friction as complementarity over cones: one problem form, one solver per file."""
