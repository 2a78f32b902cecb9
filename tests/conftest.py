"""What all tests share."""

import contextlib
import signal

from hypothesis import settings

# The first call of a compiled function takes seconds, so no example has a deadline.
settings.register_profile("tbgat", deadline=None)
settings.load_profile("tbgat")

# A shell that starts the tests in the background lets them ignore Ctrl-C, and all they start.
with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, signal.default_int_handler)
