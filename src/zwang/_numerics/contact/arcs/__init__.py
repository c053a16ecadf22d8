"""Every solution of friction in planes at a state, with proof: boxes of modes and arcs of directions.

`slots` brings a contact problem into one form, `box_programs` asks one linear program for each box, `box_roots`
encloses what is left, `tree` walks over the boxes of all modes, `decided` puts together what it found.
"""
