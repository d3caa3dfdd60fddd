"""What orchestration costs: this engine beside others, on one simulated model.

    python -m studies.engine --install    # virtual environments of the peers, once
    python -m studies.engine              # everything; Markdown on standard output
    python -m studies.engine --streams    # what an answer costs that comes in pieces

A subject is a program of `subjects/` that builds a team from a `Workload` and runs it. Each is in a
process of its own, in turn with the others, against a simulator in another process, which checks
that the right colleagues' outputs reached every agent. Times vary with the machine: read ratios.
"""
