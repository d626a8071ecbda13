"""The engine's worker with one method more, a learner's function: ``python -m
explainer.check.worker FILE``."""

import sys
from pathlib import Path

from explainer.check.method import Learner
from explainer.engine import worker

if __name__ == "__main__":
    worker.main(Learner(Path(sys.argv[1])))
