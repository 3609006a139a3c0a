"""What kernels are made of: how they are declared, vectors of eight, functions."""
