"""What agents put beside a prompt in its writer's name, and nobody typed: reminders, the machine, instructions."""

import re

_ASIDES = re.compile(
    r"<(system-reminder|environment_context|environment_details|user_instructions|local-command-caveat|context|"
    r"session_context|permissions instructions|INSTRUCTIONS|additional_data|ide_opened_file)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)


def without_asides(text: str) -> str:
    """What may have been typed of a user message of recorded traffic: what stands outside of such tags."""
    return _ASIDES.sub("", text).strip() if "<" in text else text.strip()
