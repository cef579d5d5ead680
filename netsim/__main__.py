"""`python -m netsim` is the same as `netsim`."""

import sys

from netsim.cli import main

if __name__ == "__main__":
    sys.exit(main())
