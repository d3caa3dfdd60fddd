"""What happens in runs, as OpenTelemetry traces by the conventions for generative AI.

One listener on the events that runs tell anyway; nothing that runs teams knows of it. Nothing of
OpenTelemetry is imported before somebody asks for traces.
"""

from .asked import exporting, otel_option, ready
from .many import TurnSpans, around

__all__ = ["TurnSpans", "around", "exporting", "otel_option", "ready"]
