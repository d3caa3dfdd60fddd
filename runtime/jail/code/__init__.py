"""Code and shell commands in a jail: interpreters that stay warm, and their adapters."""
