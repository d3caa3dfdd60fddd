"""The backend of mini-swe-agent's DefaultAgent."""
