"""Teams and tasks: values, rules, and their canonical form."""
