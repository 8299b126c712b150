"""Runs a command as if on a machine of its own: every process that it leaves behind stays a descendant of this one.

Patroni detaches its PostgreSQL, which would outlive it and whoever started it. The machine goes on if the command is
killed, as long as one of its processes runs. SIGINT asks the command to stop. SIGTERM, which this process also gets when
its parent ends, kills everything.
"""
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def descendants(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in children.read().split():
                yield int(child)
                yield from descendants(child)


def kill_all(*_):
    # A process can start another one, or end, while they are listed.
    while True:
        try:
            found = list(descendants(os.getpid()))
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            if not found:
                os._exit(1)
            os.wait()
        except (FileNotFoundError, ProcessLookupError, ChildProcessError):
            pass


prctl = ctypes.CDLL(None).prctl
prctl(PR_SET_CHILD_SUBREAPER, 1)
signal.signal(signal.SIGTERM, kill_all)
prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
command = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGINT, lambda *_: os.kill(command, signal.SIGTERM))
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        sys.exit(1)
    if pid == command and not os.WIFSIGNALED(status):
        sys.exit(os.WEXITSTATUS(status))
