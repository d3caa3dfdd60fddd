"""An evaluation: a team on the tasks of a benchmark; its trials, samples, figures, results."""
