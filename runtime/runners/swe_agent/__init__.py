"""The backend of SWE-agent, an installed program that runs in a jail."""
