"""The clips of the fight's second file, made by poses one after the other.

`acting` fills a sheet from poses, `floor` keeps the skin above the floor; the other
modules are the clips, and `make.make_fighter` runs the whole recipe.
"""
