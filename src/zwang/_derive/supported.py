"""A system whose mass matrix is completed by its bilateral rows: M + W^T D W, with W^T D gamma added to the forces.

On W a = gamma what is added cancels, so accelerations and multipliers are those of the system itself; every method
that needs a definite M then serves where M is semidefinite and definite on the kernel of the rows.
"""

from __future__ import annotations

from functools import cached_property

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System


class Supported(System):
    """A system with the weight of each of its normals in its mass matrix; made by `support`."""

    weights: tuple[float, ...]

    @cached_property
    def digest(self) -> str:
        """That of the system, and the weights."""
        own = System.digest.func(self)  # type: ignore[attr-defined]
        return f"{own}+{'+'.join(weight.hex() for weight in self.weights)}"


def support(system: System, weights: tuple[float, ...]) -> Supported:
    """Return the system with weights, one for each constraint that has a normal; only bilateral ones may have one."""
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    assert len(weights) == len(normals)
    assert all(isinstance(item, Bilateral) or not w for item, w in zip(normals, weights, strict=True))
    made = object.__new__(Supported)
    kept = {key: value for key, value in system.__dict__.items() if key != "digest"}
    made.__dict__.update(kept, weights=weights)
    return made


def declared_digest(system: System) -> str:
    """Return the digest of what was declared."""
    return system.digest.partition("+")[0]


def weights_of(system: System) -> tuple[float, ...]:
    """Return the weights of the normals, none for a system that is not supported."""
    return system.weights if isinstance(system, Supported) else ()
