"""Teams written by people, as YAML, and their prompts. Data only: nothing here is code."""
