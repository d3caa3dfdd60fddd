"""Every strategy beside its control, where a convention can be learnt and where nothing helps.

`world` plays the models, `trials` evolves and tests by the command, `python -m studies.controls`
prints the table of docs/controls.md.
"""
