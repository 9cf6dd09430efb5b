"""Makes `python -m cepctl` the same as the command `cepctl`."""

import sys

from cepctl.cli import main

if __name__ == "__main__":
    sys.exit(main())
