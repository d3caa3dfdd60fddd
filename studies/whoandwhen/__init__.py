"""Who & When: who failed in 184 published runs of teams, and at which step (arXiv 2505.00212).

Nothing is run here: traces are read, and a method says whom and which step it blames.
`python -m studies.whoandwhen` runs methods over them and prints what they are worth.

* `published` reads the traces; `quirks` counts what is odd in them.
* `verdicts` has the original's verdict and the exact one; `chance` what a blind draw gets.
* `baselines` are the published methods; `methods` has them beside the schemes of `operators.blame`.
* `attributing` runs them, journaled; `figures` makes tables of the result.
* `judges` are models that answer from a script: one that knows the labels, and others.
"""
