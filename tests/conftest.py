"""Settings of all tests, and of the processes that they start."""

import os

# Which tier answers a call must not depend on what the cache holds: calls wait for machine code where they need it.
os.environ.setdefault("ZWANG_WAIT", "1")
