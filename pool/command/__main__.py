"""`python -m coterie.pool.command`: mas-pool."""

from . import main

if __name__ == "__main__":
    main()
