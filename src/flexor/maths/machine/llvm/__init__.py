"""What the compiler is told of the words that kernels use: lanes, bits, addresses.

Loaded in processes that compile alone; the module of the same name one room above says
what each word does, in plain Python.
"""
