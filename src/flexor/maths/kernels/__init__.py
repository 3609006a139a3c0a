"""What kernels are made of: flags, vectors of eight, and how compiled code is kept."""
