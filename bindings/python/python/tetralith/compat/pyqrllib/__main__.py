"""Runs a program that imports ``pyqrllib``: ``python -m tetralith.compat.pyqrllib [-m] PROGRAM …``."""

import os
import runpy
import sys

from . import install

if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or arguments == ["-m"]:
        sys.exit("usage: python -m tetralith.compat.pyqrllib [-m MODULE | PROGRAM] [ARGUMENT ...]")
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
