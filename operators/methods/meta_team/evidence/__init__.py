"""What a retrospective stands on: conversations, feedback, and what colleagues say when asked."""
