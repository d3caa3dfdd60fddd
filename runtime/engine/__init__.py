"""Runs a plan on a task as dataflow: each agent starts when its predecessors are done."""
