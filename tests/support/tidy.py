"""Imported for its effect: SIGTERM and SIGHUP end a test as an exception does, so that its servers
are stopped and its temporary directories are removed."""
import signal
import sys


def end(number, _):
    signal.signal(number, signal.SIG_IGN)  # once is enough
    sys.exit(128 + number)


for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, end)
