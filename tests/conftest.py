"""For every test: no call home, and without a GPU the kernels run in Triton's interpreter."""

import os
from pathlib import Path

from hypothesis import settings

settings.register_profile("here", deadline=None)  # a busy machine is no failure
settings.load_profile("here")

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
# Read when the kernels are decorated, so before anything imports them; asking torch would cost
# seconds that most tests do not need.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"
