"""The backend of smolagents' CodeAgent and ToolCallingAgent."""
