"""The built-in sample character, made by code: a jointed wooden lay figure.

`make.make_mannequin` runs the whole recipe: `nodes` (skeleton), `field` (the body as
a distance field), `body` (its skin), `weights`, `surface` (texture), `clips` (motion).
Nothing here is needed to *load* the figure; these modules make the shipped file.
"""
