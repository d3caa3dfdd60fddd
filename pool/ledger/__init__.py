"""The ledger: append-only changes, and the state that follows from them."""
