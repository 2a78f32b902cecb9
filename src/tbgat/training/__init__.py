"""The learner: n-step REINFORCE, validation, resumable runs."""
