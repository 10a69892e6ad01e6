"""same_run.py PROGRAM PREFIX

Runs the installed Python package, whose modules and library must lie below PREFIX, and the program, and compares what
they computed bit for bit, and so does the program in the package. The package makes a report by its own program.
libmpi must not be in the process, and the program in the package must not need it.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import saddle

program, prefix = sys.argv[1:]
os.environ.pop("SADDLE_PROGRAM", None)
its_own = Path(saddle.__file__).with_name("bin") / "saddle"
options = {"problem": "auc", "data": "synthetic:300:20", "agents": "4", "topology": "ring"}
options |= {"iterations": "30", "seed": "7"}
with tempfile.TemporaryDirectory() as directory:
    model = Path(directory, "model.npz")
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    call = ["run", "--quiet", *words, "--model", model]
    subprocess.run([program, *call], check=True, stdout=subprocess.DEVNULL)
    result = saddle.run(**options)
    with np.load(model) as its:
        assert len(result.x_agents) == 4 and np.any(result.x_agents)
        assert result.x_agents.tobytes() == its["x"].tobytes()
        assert result.y_agents.tobytes() == its["y"].tobytes()
    one = model.read_bytes()
    subprocess.run([its_own, *call], check=True, stdout=subprocess.DEVNULL)
    assert model.read_bytes() == one
    assert 'data-label="PRECISION-auto"' in saddle.report(result, Path(directory, "page.html")).read_text()

loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
libraries = [path for path in loaded if "libsaddle" in path]
assert len(libraries) == 1 and libraries[0].startswith(prefix), libraries
assert saddle.__file__.startswith(prefix), saddle.__file__
assert not [path for path in loaded if "libmpi" in path]
needed = subprocess.run(["ldd", its_own], text=True, stdout=subprocess.PIPE, check=True).stdout
library = next(line.split(" => ")[1].split(" (")[0] for line in needed.splitlines() if "libsaddle.so" in line)
assert Path(library).samefile(libraries[0]) and "libmpi" not in needed, needed
