"""Teams of a pool: admission, lineage, exchange and blame."""
