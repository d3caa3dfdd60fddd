"""Arena: methods x streams x seeds, each cell under one cap, frozen, tested, and compared."""
