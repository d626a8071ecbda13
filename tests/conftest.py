"""For every test: no call home, and without a GPU the kernels run in Triton's interpreter."""

import os
from pathlib import Path

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# Read when the kernels are decorated, so before anything imports them; asking torch would cost
# seconds that most tests do not need.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"
