"""What all operators share: how they ask a model, read its answer, and show teams and tasks."""
