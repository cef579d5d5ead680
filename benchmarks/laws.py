"""Laws of every run, over as many random cases as one likes: topology, routing, recovery, control, sizes of packets.

    python benchmarks/laws.py                      # 500 cases, one after the other
    python benchmarks/laws.py --cases 40 --first 1000 --shift
    python benchmarks/laws.py --incasts            # equal long flows on one bottleneck

Prints each breach with the number of its case (`tests.random_cases.case(n)` draws it again), and how many cases ran.
"""

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.random_cases import LAWS, case, differs_when_shifted, equal_flows_share, incast

SECOND = 10**12  # ps


def main() -> None:
    """Run the cases; the exit code is 1 if a law was broken."""
    parser = argparse.ArgumentParser(description="Laws of every run over random cases.")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--incasts", action="store_true", help="equal long flows to one host instead: they share")
    parser.add_argument("--shift", action="store_true", help="run each once more, beginning 1 ps to 1 s later")
    choice = parser.parse_args()
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    for number in range(choice.first, choice.first + choice.cases):
        drawn = incast(number) if choice.incasts else case(number)
        result = drawn.run()
        if result is None:
            counts["refused or given up"] += 1
            continue
        counts["ran"] += 1
        laws = [*LAWS, equal_flows_share] if choice.incasts else LAWS
        breaches = {law.__name__: law(result) for law in laws}
        if choice.shift:
            by_ps = round(SECOND ** random.Random(number).random())
            breaches[f"a start {by_ps} ps later changes nothing but times"] = differs_when_shifted(drawn, by_ps)
        for law, found in breaches.items():
            if found:
                counts[f"broke: {law.split(' ps ')[-1]}"] += 1
                print(f"case {number}: {law}: {found[0]} ({len(found)} in all)", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()), f"in {time.perf_counter() - began:.0f} s")
    sys.exit(any(what.startswith("broke") for what in counts))


if __name__ == "__main__":
    main()
