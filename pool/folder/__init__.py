"""Files derived from the ledger: agents, their memories, copies of evolutions."""
