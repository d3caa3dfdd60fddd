"""The evidence of a retrospective: conversations, feedback, and answers of colleagues."""
