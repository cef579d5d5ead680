"""Which rows of a growing table are in use: ranges, first fit, so that what has ended makes room for what comes."""


class RangeAllocator:
    """Ranges of rows. `size` is one more than the last row ever taken."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []  # (first, rows), in order, never touching each other

    def take(self, rows: int) -> int:
        """The first row of a free range of so many rows."""
        for i, (first, free) in enumerate(self._free):
            if free >= rows:
                self._free[i : i + 1] = [(first + rows, free - rows)] if free > rows else []
                return first
        first = self.size
        self.size += rows
        return first

    def give(self, first: int, rows: int) -> None:
        """These rows are free again."""
        if rows == 0:
            return
        merged: list[tuple[int, int]] = []
        for start, length in sorted([*self._free, (first, rows)]):
            if merged and merged[-1][0] + merged[-1][1] == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + length)
            else:
                merged.append((start, length))
        self._free = merged
