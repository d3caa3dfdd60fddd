"""Teams of a pool: how they come in, their lineage, exchange and blame."""
