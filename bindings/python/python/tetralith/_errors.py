"""The exceptions, one for each exit code of the command."""

from __future__ import annotations


class TetralithError(Exception):
    """A failure with the stable, dotted code that the command prints."""

    def __init__(self, message: str, code: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code: str = code
        self.hint: str | None = hint

    def __reduce__(self) -> tuple[type[TetralithError], tuple[str, str, str | None]]:
        return type(self), (str(self), self.code, self.hint)


class VerificationError(TetralithError):
    """A well-formed signature, proof or seal is not valid."""


class MalformedError(TetralithError, ValueError):
    """The input is malformed, or an argument is wrong."""


class EnvironmentFailure(TetralithError):
    """A file or the machine failed, or the work was interrupted."""


class StateError(TetralithError):
    """The durable state refuses: it is exhausted, rolled back, locked or leased."""


class PeerError(TetralithError):
    """Another party failed; ``suspects`` are the parties among which the fault lies."""

    suspects: list[int] = []
