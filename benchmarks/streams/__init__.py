"""Streams of small generated tasks on which a very small model has room to get better.

    python -m coterie.benchmarks.streams coins --count 40 --split evolve     # JSONL tasks

Each task has one right answer and is scored exactly. What evolution learns from and what it is
tested on are made from different words, numbers and dates.
"""
