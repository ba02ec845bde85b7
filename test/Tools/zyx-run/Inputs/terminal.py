"""Runs a program whose standard error is a terminal, and prints what it wrote there."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
program = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
written = b""
try:
    while chunk := os.read(ours, 4096):
        written += chunk
except OSError:
    # Linux says so that the other end is closed.
    pass
print(repr(written.decode()))
sys.exit(program.wait(timeout=60))
