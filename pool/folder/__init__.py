"""The files that follow the ledger: agents, archives, copies of evolutions."""
