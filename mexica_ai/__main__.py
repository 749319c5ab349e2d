"""`python -m mexica_ai` is the command `mexica-ai`."""

import sys

from mexica_ai_command import main

sys.exit(main())
