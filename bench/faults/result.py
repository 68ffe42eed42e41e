from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Result:
    """``tried`` describes the fault. ``problems`` are broken promises; only the first few are printed."""

    attempt: str
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = (
            f"{len(self.problems)} problems: {'; '.join(self.problems[:5])}"
            if self.problems
            else "nothing lost"
        )
        return f"{self.attempt}; {lost}"
