"""`python -m coterie.benchmarks.command`: mas-bench."""

from . import main

if __name__ == "__main__":
    main()
