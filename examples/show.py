import json
from typing import Any


def show(step: str, value: Any) -> None:
    """Prints what a step got: the members of models, and the text of dates."""
    print(step, json.dumps(value, default=lambda one: one.to_dict() if hasattr(one, "to_dict") else one.isoformat()))
