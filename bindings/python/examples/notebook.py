"""Executes a notebook and prints what its cells show: ``python notebook.py FILE``."""

import os
import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
folder = os.path.dirname(os.path.abspath(sys.argv[1]))
nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
for output in shown:
    if "data" in output:
        print(output["data"].get("text/plain", ""))
assert any("image/png" in output.get("data", {}) for output in shown), "no cell shows a plot"
assert os.path.getsize(os.path.join(folder, os.environ.get("PLOT", "vrf_study.svg"))) > 1000
