"""Print the README's command for `demo` or `tests`, so that CI runs what a newcomer is told to run."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
demo, tests = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
sys.stdout.write({"demo": demo, "tests": tests}[sys.argv[1]])
