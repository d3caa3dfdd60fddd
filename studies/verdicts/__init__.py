"""Whether verdicts are right where that is known: of published answers, and of what is none.

`answers` writes the answers of four benchmarks: the published one, a wrong one, an empty and a
malformed one. `forms` writes a published answer in mathematics in ten ways, which `agreement`
holds against the library that decides. `python -m studies.verdicts` prints the tables.
"""
