"""Teams, tasks and what they mean: values, rules, and writing them canonically."""
