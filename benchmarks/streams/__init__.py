"""Streams of small generated tasks on which a very small model can improve.

    python -m coterie.benchmarks.streams coins --count 40 --split evolve     # JSONL tasks

Each task has one right answer and is scored exactly. Evolution and test splits use different words,
numbers and dates.
"""
