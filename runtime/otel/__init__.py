"""What happens in runs, as OpenTelemetry traces by the conventions for generative AI.

This is one listener to the events of runs; the code that runs teams does not know it. No module of
OpenTelemetry is imported before traces are requested.
"""
