"""Imported for its effect: SIGTERM and SIGHUP end a test as an exception does, so that its servers
are stopped and its temporary directories are removed. So does SIGINT, which a test and what it
starts would otherwise ignore if a shell has started it in the background."""
import signal
import sys


def end(number, _):
    signal.signal(number, signal.SIG_IGN)  # once is enough
    sys.exit(128 + number)


for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, end)
signal.signal(signal.SIGINT, signal.default_int_handler)
