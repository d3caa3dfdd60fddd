"""`python -m coterie.schema.command`: mas."""

from . import main

if __name__ == "__main__":
    main()
