"""Every exception this package raises on purpose, under one base."""

__all__ = [
    "CycleError",
    "FormatError",
    "InstanceError",
    "MissingExtraError",
    "ScheduleError",
    "TbgatError",
    "UsageError",
    "WeightsError",
]


class TbgatError(Exception):
    """Base of all errors with a message meant for people: one sentence, what and where."""


class InstanceError(TbgatError):
    """The numbers given do not describe a job shop."""


class FormatError(InstanceError):
    """A file or text could not be read; the message names the place in it."""


class ScheduleError(TbgatError):
    """A schedule breaks a rule of its instance."""


class CycleError(TbgatError):
    """Machine orders (or any graph) that contradict each other: no start times exist."""


class UsageError(TbgatError):
    """An option or argument that makes no sense."""


class WeightsError(TbgatError):
    """Network weights that are missing, foreign or damaged."""


class MissingExtraError(TbgatError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package: pip install 'tbgat[{extra}]'")
        self.extra = extra
