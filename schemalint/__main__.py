"""Run the command line as ``python -m schemalint``."""

from __future__ import annotations

import sys

from schemalint.cli import main

sys.exit(main())
