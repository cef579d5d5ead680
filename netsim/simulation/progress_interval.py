"""How long the core runs before Python looks up: often enough for a person, seldom enough to cost nothing."""

import time

PAUSE_SECONDS = 0.1  # what the core may take in one go: Ctrl-C is heard that often
FEWEST_STEPS, FIRST_STEPS, MOST_STEPS = 64, 4096, 1 << 30
TELL_SECONDS = 0.1  # between two words on progress


class ProgressInterval:
    """Steps the core may take at once, found by the clock. They change no result: a pause falls between two windows."""

    def __init__(self) -> None:
        self.steps = FIRST_STEPS
        self._told_at = 0.0

    def paused_after(self, seconds: float) -> None:
        """All steps were taken, in so many seconds: how many will it be next time? At most four times more or less."""
        wanted = self.steps * min(4.0, max(0.25, PAUSE_SECONDS / max(seconds, 1e-9)))
        self.steps = int(min(MOST_STEPS, max(FEWEST_STEPS, wanted)))

    def is_time(self) -> bool:
        """Whether it is time to tell of progress again."""
        now = time.monotonic()
        if now - self._told_at < TELL_SECONDS:
            return False
        self._told_at = now
        return True
