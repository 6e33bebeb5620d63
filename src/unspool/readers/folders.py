"""Where programs keep their data, by the rules of the system."""

from collections.abc import Mapping
from pathlib import Path


def data_folder(environment: Mapping[str, str], home: Path) -> Path:
    """On Linux; many programs keep to it everywhere."""
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
