"""Where the viewer's page lies, once it is built: see hatch_build.py."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
NOT_BUILT = "the viewer's page was not built into this installation: see CONTRIBUTING.md"
