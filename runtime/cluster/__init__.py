"""Jails on the workers of a cluster, as `--on` asks for it.

The driver keeps models, journal, budget and pool; agents' code runs in jails on workers. A worker
has a `JailWorker`, which opens jails as `runtime.jail` does on this machine; the driver has a
`RemoteJail` for each. Only `ray_fleet` knows Ray, and nothing imports it before it is needed.
"""
