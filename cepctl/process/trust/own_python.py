"""How a Python process of our own is started: it imports this cepctl, and nothing from the working folder.

People unpack evidence into a folder and run cepctl there.  Python looks for modules in that folder first
when it runs `-m` or `-c`; a planted module `numba` would be executed.  `-P` takes the folder off the path.
Every Python that cepctl starts is started by this command.

Runs before all else: imports the standard library only.
"""

from __future__ import annotations

import os
import sys

# Where another cepctl would be found, or none, the process reads the one that runs here.
_BEGIN = """
import sys
from importlib.util import find_spec
package = sys.argv.pop(1)
found = find_spec("cepctl")
if found is None or package not in (found.submodule_search_locations or ()):
    sys.path.insert(0, package.rpartition("/")[0])
"""


def python_command(program: str, *words: str) -> list[str]:
    """The command that runs a program in a Python like this one; the program finds `words` in sys.argv[1:].

    >>> python_command("print('hello')", "word")[1:3]
    ['-P', '-c']
    """
    package = os.path.abspath(sys.modules["cepctl"].__path__[0])  # noqa: PTH100, it may lie in an archive
    return [sys.executable, "-P", "-c", _BEGIN + program, package, *words]
