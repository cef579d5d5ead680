"""A switch's shared buffer in the twin: one account for all its ports, and a threshold that moves with what is left."""

from fractions import Fraction

from netsim.queues.disciplines.shared_buffer import SharedBuffer


class Pool:
    """The memory of one switch; alpha as the core has it, in 65536ths."""

    def __init__(self, shared: SharedBuffer) -> None:
        self.size, self.alpha = shared.size, Fraction(round(shared.alpha * 65536), 65536)
        self.used = 0
        self.fullest = 0

    def admits(self, queue: int, more: int) -> bool:
        """Tell whether a queue may grow by so much: it then holds at most alpha times what is then left."""
        return queue + more <= self.alpha * (self.size - self.used - more)

    def most(self, queue: int, more: int) -> int:
        """Give how much of `more` a queue may take."""
        low, high = 0, max(0, more)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.admits(queue, middle) else (low, middle - 1)
        return low

    def take(self, size: int) -> None:
        """Put bytes into the account."""
        self.used += size
        self.fullest = max(self.fullest, self.used)

    def threshold(self) -> int:
        """Give what a queue may hold when nothing more comes."""
        return int(self.alpha * (self.size - self.used))
