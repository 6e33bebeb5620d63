"""Where programs keep their data, by the rules of the system."""

from collections.abc import Mapping
from pathlib import Path


def data_folder(environment: Mapping[str, str], home: Path) -> Path:
    """On Linux; many programs keep to it everywhere."""
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")


def settings_folders(environment: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """On Linux, macOS and Windows: logs may have come from another system."""
    return (
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config"),
        home / "Library" / "Application Support",
        Path(environment.get("APPDATA") or home / "AppData" / "Roaming"),
    )
