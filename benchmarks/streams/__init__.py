"""Streams of small generated tasks on which a very small model has room to get better.

    python -m coterie.benchmarks.streams coins --count 40 --split evolve     # JSONL tasks
    python -m coterie.benchmarks.streams.headroom sentiment                  # what edits are worth

Each task has one right answer and is scored exactly. What evolution learns from and what it is
tested on are made from different words, numbers and dates.
"""
