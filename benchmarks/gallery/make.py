"""Run the three studies of the gallery and draw their pictures beside them.

    python benchmarks/gallery/make.py
    python benchmarks/gallery/make.py --only rails --jobs 1

Each is `netsim sweep STUDY.toml --svg STUDY.svg`; results stay in the folder of --out, so that an interrupted
gallery goes on.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STUDIES = ("rails", "spray", "oversubscription")


def main() -> int:
    """Run the studies one after the other; the first exit code that is not 0, if any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=STUDIES, help="this study alone")
    parser.add_argument("--jobs", default="0", help="runs at once; 0: one per core")
    parser.add_argument("--out", default="results/gallery", help="where the results are kept")
    chosen = parser.parse_args()
    codes = [run(study, chosen.jobs, Path(chosen.out)) for study in STUDIES if chosen.only in (None, study)]
    return next((code for code in codes if code), 0)


def run(study: str, jobs: str, out: Path) -> int:
    """One sweep, as a person would type it."""
    file = HERE / f"{study}.toml"
    command = ["sweep", str(file), "--svg", str(file.with_suffix(".svg")), "--jobs", jobs, "--out", str(out / study)]
    print(f"netsim {' '.join(command)}", flush=True)
    return subprocess.run([sys.executable, "-m", "netsim", *command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
