"""HTTP to endpoints: one connection pool, streams, proxies, and what went wrong on the wire."""
