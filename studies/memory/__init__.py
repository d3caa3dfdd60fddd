"""How well and how fast the experience memory finds things.

    python -m studies.memory              # everything; Markdown on standard output

Paraphrases: every text of `pairs` looks for its other wording among all others. Speed: loading an
embedder in a new process, embedding, indexing from cached vectors, searching.
"""
