"""`python -m flexor`."""

from flexor.app.cli.main import main

main()
