"""What an agent reads: instructions, the task, reports, skills, memories, attachments."""
