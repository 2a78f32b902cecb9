"""The search loop, when it stops, who listens, and what it returns."""
