"""The command trajfit: the same program as the one that cargo builds."""

import signal
import sys

from . import _trajfit


def main():
    # The program handles Ctrl-C itself: it stops where it can be resumed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_trajfit.run(["trajfit", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
