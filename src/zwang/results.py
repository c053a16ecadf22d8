"""The classes of what verbs return, for annotations and ``isinstance``; `zwang.load_result` reads saved ones.

>>> import zwang as zw
>>> from zwang.results import Motion
>>> ball = zw.gallery.get("bouncing_ball")
>>> isinstance(zw.simulate(ball.system, ball.state, ball.params, until=0.1), Motion)
True
"""

from __future__ import annotations

from zwang._results.asymptotics import Asymptotics, AsymptoticsStatus, Growth, Threshold
from zwang._results.base import Provenance, Result
from zwang._results.configuration import ConfigurationSpace, HalfBranch, SingularPoint, TraceStatus
from zwang._results.configuration_arc import Branch
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._results.critical import CriticalStatus, CriticalValue, CriticalValues, SingularRange
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.cycles import CycleBranch, Cycles, CycleSpecial, CyclesStatus
from zwang._results.drive import Drive, DriveStatus
from zwang._results.ensemble import Ensemble, EnsembleStatus
from zwang._results.equilibria import (
    Equilibria,
    EquilibriaStatus,
    Equilibrium,
    EquilibriumBranch,
    EquilibriumInterval,
    EquilibriumSpecial,
)
from zwang._results.evaluation import Evaluation, EvaluationStatus
from zwang._results.folds import (
    Assemblies,
    Assembly,
    FoldCurve,
    FoldPoint,
    Folds,
    PathStatus,
    Sheets,
    SurfacePath,
    SurfaceSheet,
)
from zwang._results.guarantee import Guarantee, GuaranteeStatus, Witness
from zwang._results.limit import (
    LimitStatus,
    LimitStudy,
    LimitVerdict,
    Order,
    Recommendation,
    RecommendationStatus,
)
from zwang._results.linearization import Eigenmode, Linearization, LinearizationStatus
from zwang._results.lyapunov import Lyapunov, LyapunovStatus
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_parts import Continuation, MotionEvent
from zwang._results.motion_tree import MotionTree, MotionTreeStatus
from zwang._results.poincare import PoincarePoints
from zwang._results.reaction_boxes import SolutionEnclosure, UndecidedBox
from zwang._results.reactions import (
    Certificate,
    Reactions,
    ReactionsStatus,
    Redundancy,
    Rejection,
    Solution,
)
from zwang._results.reactions_map import ReactionsMap
from zwang._results.sensitivity import Fit, FitStatus, Sensitivity, SensitivityStatus
from zwang._results.study import Failure, Study, StudyStatus
from zwang._results.surface import SingularCurve, SpacePiece, SurfaceMesh

__all__ = [
    "Assemblies",
    "Assembly",
    "Asymptotics",
    "AsymptoticsStatus",
    "Branch",
    "Certificate",
    "ConfigurationSpace",
    "Continuation",
    "CriticalStatus",
    "CriticalValue",
    "CriticalValues",
    "Cycle",
    "CycleBranch",
    "CycleSpecial",
    "CycleStatus",
    "Cycles",
    "CyclesStatus",
    "Drive",
    "DriveStatus",
    "Eigenmode",
    "Ensemble",
    "EnsembleStatus",
    "Equilibria",
    "EquilibriaStatus",
    "Equilibrium",
    "EquilibriumBranch",
    "EquilibriumInterval",
    "EquilibriumSpecial",
    "Evaluation",
    "EvaluationStatus",
    "Failure",
    "Fit",
    "FitStatus",
    "FoldCurve",
    "FoldPoint",
    "Folds",
    "Growth",
    "Guarantee",
    "GuaranteeStatus",
    "HalfBranch",
    "LimitStatus",
    "LimitStudy",
    "LimitVerdict",
    "Linearization",
    "LinearizationStatus",
    "LocalType",
    "Lyapunov",
    "LyapunovStatus",
    "Motion",
    "MotionEvent",
    "MotionStatus",
    "MotionTree",
    "MotionTreeStatus",
    "Order",
    "PathStatus",
    "PoincarePoints",
    "Provenance",
    "Reactions",
    "ReactionsMap",
    "ReactionsStatus",
    "Recommendation",
    "RecommendationStatus",
    "Redundancy",
    "Rejection",
    "Result",
    "Sensitivity",
    "SensitivityStatus",
    "Sheets",
    "SingularCurve",
    "SingularPoint",
    "SingularRange",
    "Solution",
    "SolutionEnclosure",
    "SpacePiece",
    "Stratum",
    "Study",
    "StudyStatus",
    "SurfaceMesh",
    "SurfacePath",
    "SurfaceSheet",
    "Threshold",
    "TraceStatus",
    "UndecidedBox",
    "Witness",
]
