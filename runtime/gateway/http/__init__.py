"""HTTP to endpoints: one connection pool, streams, proxies, and transport failures."""
