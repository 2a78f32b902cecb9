"""Measuring methods against instances, and telling what came out."""
