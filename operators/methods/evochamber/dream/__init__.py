"""CoDream: what some of a team know that others lack, found out, verified and handed on."""
