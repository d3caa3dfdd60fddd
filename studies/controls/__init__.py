"""Every strategy beside its control, where there is a gain to be had, and where there is none."""
