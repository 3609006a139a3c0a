"""`python -m flexor`."""

from flexor.cli.main import main

main()
