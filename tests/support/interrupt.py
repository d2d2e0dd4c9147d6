"""Ctrl-C at a moment that the progress bar tells, whatever the speed of the machine."""

import contextlib
import io
import re
import signal

#: Seconds between two looks at the bar.
INTERVAL = 0.005


def epochs_shown(screen):
    """Find the last epoch that the bar of each training run has shown."""
    runs = re.split(r"\b0/\d+ \[", screen)[1:]
    return [int(re.findall(r"\b(\d+)/\d+ \[", "0/0 [" + run)[-1]) for run in runs]


@contextlib.contextmanager
def interrupt_when(is_time):
    """Raise KeyboardInterrupt, from a signal, once ``is_time`` says so of the epochs shown.

    What is trained has to be verbose, for more than a tenth of a second: bars skip epochs.
    """
    screen = io.StringIO()

    def look(signal_number, frame):
        if "coverage" in frame.f_code.co_filename:
            return  # its lock would never be released; the next look is soon
        if is_time(epochs_shown(screen.getvalue())):
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        with contextlib.redirect_stderr(screen):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
