"""`reactions` of plain arrays: statuses, pieces, modes, redundancy in words, what is marginal, what is too much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from planar_examples import ladder, painleve, rod, three_motions
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions.enumerate import Subject, reactions_of_problem
from zwang._results.loading import load_result
from zwang._results.reaction_boxes import Modes
from zwang.errors import DeclarationError

WEIGHT = 1.0


def block(push, *, friction=0.5, weight=WEIGHT, **changes):
    """A unit block on a floor: it holds a push up to friction * weight."""
    floor = Contact([0, 1], tangent=[1, 0], friction=friction, name="floor", **changes)
    return ContactProblem(np.eye(2), [push, -weight], [floor])


def equal_contacts(count, force, **changes):
    contact = {"normal": [0, 1], "tangent": [1, 0], "friction": 0.5} | changes
    return ContactProblem(np.eye(2), force, [Contact(**contact) for _ in range(count)])


# --- modes and statuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "push, weight, mode, acceleration, friction",
    [
        (0.4, 1.0, "stick", (0, 0), -0.4),
        (0.8, 1.0, "slip+", (0.3, 0), -0.5),
        (-0.8, 1.0, "slip-", (-0.3, 0), 0.5),
        (0.8, -1.0, "open", (0.8, 1.0), 0.0),
        (0.5, 1.0, "stick", (0, 0), -0.5),  # at the limit of friction: one point, counted once
    ],
)
def test_block_at_rest(push, weight, mode, acceleration, friction):
    found = reactions_of_problem(block(push, weight=weight))
    assert found.status.name == "UNIQUE"
    assert found.complete
    (solution,) = found.solutions
    assert solution.modes == (mode,)
    assert solution.acceleration == pytest.approx(acceleration, abs=1e-15)
    assert solution.tangential[0] == pytest.approx(friction, abs=1e-15)
    assert solution.residual < 1e-15


@pytest.mark.parametrize("slip, mode", [(1.0, "slip+"), (-1e-9, "slip-")])
def test_sliding_block_is_named_by_the_sign_of_its_slip(slip, mode):
    (solution,) = reactions_of_problem(block(0.4, slip=slip)).solutions
    assert solution.modes["floor"] == mode
    assert solution.tangential[0] == pytest.approx(-0.5 * np.sign(slip))


def test_slip_within_its_tolerance_counts_as_rest():
    (solution,) = reactions_of_problem(block(0.4, slip=1e-9), slip_tol=1e-8).solutions
    assert solution.modes == ("stick",)


def test_frictionless_contact_is_open_or_closed():
    for weight, mode in ((1.0, "closed"), (-1.0, "open")):
        (solution,) = reactions_of_problem(ContactProblem(np.eye(1), [-weight], [Contact([1])])).solutions
        assert solution.modes == (mode,)


def test_pulling_bilateral_contact_says_so():
    problem = ContactProblem(np.eye(2), [0.1, 1.0], [Contact([0, 1], tangent=[1, 0], friction=0.5, bilateral=True)])
    (solution,) = reactions_of_problem(problem).solutions
    assert solution.modes == ("stick (N<0)",)
    assert solution.normal[0] == pytest.approx(-1)


def test_moving_belt_carries_the_block_along():
    # a belt accelerating at 0.3 < mu g: the block sticks to it
    (solution,) = reactions_of_problem(block(0.0, tangent_bias=0.3)).solutions
    assert solution.modes == ("stick",)
    assert solution.acceleration == pytest.approx([0.3, 0])


def test_statuses_are_sentences():
    found = reactions_of_problem(painleve(1.4, 60))
    assert found.status.value == "No reaction satisfies the laws at this state."


def test_given_normal_force_drops_the_conditions_of_the_normal():
    # the floor's force is prescribed as 3 although the weight is 1: the block rises at 2 and sticks to 0.4 < 1.5
    (solution,) = reactions_of_problem(block(0.4, normal_force=3.0)).solutions
    assert solution.acceleration == pytest.approx([0, 2])
    assert solution.tangential[0] == pytest.approx(-0.4)


# --- continua and pieces ------------------------------------------------------------------------------


def test_two_equal_supports_share_the_load_in_a_segment():
    contacts = [Contact([0, 1], name="left"), Contact([0, 1], name="right")]
    found = reactions_of_problem(ContactProblem(np.eye(2), [0, -1], contacts))
    assert found.status.name == "UNIQUE_MOTION"
    (solution,) = found.solutions
    assert solution.dimension == 1
    assert solution.vertices.normal == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0]]), abs=1e-15)
    assert solution.ranges["left"]["normal"] == pytest.approx((0, 1))
    assert solution.vertices[0].acceleration == pytest.approx([0, 0], abs=1e-15)


def test_two_equal_bilateral_contacts_at_rest_have_three_pieces_that_touch():
    # N1 + N2 = 1, |T_i| <= |N_i|/2: both push (bounded), or one pushes and the other pulls (unbounded, twice)
    found = reactions_of_problem(equal_contacts(2, [0.2, -1], bilateral=True))
    assert found.status.name == "UNIQUE_MOTION"
    assert [solution.dimension for solution in found.solutions] == [2, 2, 2]
    assert [len(solution.rays) for solution in found.solutions] == [0, 2, 2]
    assert {solution.component for solution in found.solutions} == {0}
    assert found.solutions[1].modes == ("stick", "stick (N<0)")
    assert found.solutions[1].ranges.normal[1] == pytest.approx([-np.inf, 0])


def test_overloaded_equal_bilateral_contacts_slip_with_a_continuum_of_accelerations():
    # T1 + T2 = -(|N1| + |N2|)/2: the more they wedge, the slower the block
    found = reactions_of_problem(equal_contacts(2, [2.0, -1], bilateral=True))
    assert found.status.name == "MULTIPLE"
    assert found.accelerations_continuum
    assert sorted({round(float(w), 9) for w in found.accelerations[:, 0]}) == [0.0, 1.5]
    assert {solution.component for solution in found.solutions} == {0}


def test_pieces_on_both_sides_of_a_sign_merge_into_a_line():
    # equal normals, independent tangents without load: T1 = T2 = 0, and N1 is free, through all signs
    tangents = ([1, 0, 0], [0, 1, 0])
    contacts = [Contact([0, 0, 1], tangent=t, friction=0.5, bilateral=True) for t in tangents]
    (solution,) = reactions_of_problem(ContactProblem(np.eye(3), [0, 0, -1], contacts)).solutions
    assert (solution.dimension, len(solution.vertices), len(solution.rays), len(solution.lines)) == (1, 1, 0, 1)
    assert solution.vertices.normal[0] == pytest.approx([0.5, 0.5])  # the point of least norm
    assert solution.lines.normal[0] * np.sign(solution.lines.normal[0, 0]) == pytest.approx([0.5**0.5, -(0.5**0.5)])


def test_no_force_at_all_is_the_zero_solution():
    found = reactions_of_problem(block(0.0, weight=0.0))
    assert found.status.name == "UNIQUE"
    assert not np.any(found.solutions[0].normal)
    assert found.residual == 0


def test_accelerations_are_listed_once():
    assert reactions_of_problem(three_motions()).accelerations.shape == (3, 3)


# --- rejections ------------------------------------------------------------------------------


def test_every_rejected_mode_has_a_reason_a_number_and_an_owner():
    found = reactions_of_problem(block(0.8))
    assert set(found.rejected) == {("open",), ("stick",), ("slip-",)}
    assert found.rejected["open",].reason == "penetrates"
    assert found.rejected["stick",].reason == "friction beyond its bound"
    assert found.rejected["stick",].value == pytest.approx(-0.3)  # mu N - |T|
    assert found.rejected["slip-",].reason == "slips the other way"
    assert found.rejected["slip-",].value == pytest.approx(-1.3)  # it would go on at 0.8 + 0.5
    assert found.rejected["slip-",].contact == "floor"
    with pytest.raises(KeyError):
        found.rejected["slip+",]


def test_with_many_modes_whole_branches_are_rejected_at_once():
    rng = np.random.default_rng(2)
    contacts = [Contact(rng.normal(size=10), tangent=rng.normal(size=10), friction=0.7) for _ in range(5)]
    found = reactions_of_problem(ContactProblem(np.eye(10), rng.normal(size=10), contacts))
    assert found.modes_total == 4**5
    keys = list(found.rejected)
    assert any("*" in key for key in keys)
    assert found.rejected.total == len(found.rejected)
    # together with the solutions they cover every mode, or leave out only boundaries of modes with solutions
    assert all(found.rejected[key].value < 1e-9 for key in keys)


def test_with_bilateral_friction_one_sign_or_one_motion_may_be_rejected_at_once():
    rng = np.random.default_rng(6)
    contacts = [Contact(rng.normal(size=8), tangent=rng.normal(size=8), friction=0.7, bilateral=True) for _ in range(4)]
    found = reactions_of_problem(ContactProblem(np.eye(8), rng.normal(size=8), contacts))
    assert found.complete
    words = {word for key in found.rejected for word in key}
    assert words & {"* (N>=0)", "* (N<0)"}
    (modes,) = {solution.modes for solution in found.solutions}
    for key in found.rejected:  # no rejection covers the mode that has the solution
        assert not all(_covers(pattern, mode) for pattern, mode in zip(key, modes, strict=True))


def _covers(pattern, mode):
    pulls = mode.endswith("(N<0)")
    motion = mode.removesuffix(" (N<0)")
    return pattern in {"*", mode, f"* {'(N<0)' if pulls else '(N>=0)'}", f"{motion} (any N)"}


# --- redundancy in words ------------------------------------------------------------------------------


def test_dependent_constraints_are_named_with_their_dependency_and_the_free_self_stress():
    contacts = [
        Contact([0, 1, 0], bilateral=True, name="left"),
        Contact([0, 1, 1], bilateral=True, name="middle"),
        Contact([0, 1, 2], bilateral=True, name="right"),
        Contact([1, 0, 0], bilateral=True, name="side"),
    ]
    found = reactions_of_problem(ContactProblem(np.eye(3), [0.5, -1, 0], contacts))
    words = found.redundancy.sentences
    assert words[0] == (
        "The constraints 'left', 'middle' and 'right' depend on each other: 0.5 left - middle + 0.5 right = 0."
    )
    assert words[1] == "Free self-stress: N(left) +0.5, N(middle) -1, N(right) +0.5."
    assert words[2] == "Determined all the same: the reactions of 'side'."
    assert found.redundancy.determined == ("side",)
    assert found.redundancy.dependencies == pytest.approx(np.array([[0.5, -1, 0.5, 0]]))


def test_dependent_constraints_may_still_have_determined_reactions():
    # the third support opens, the other two carry the load
    contacts = [Contact([0, 1, x], name=f"at {x}") for x in (-1, 0, 1)]
    found = reactions_of_problem(ContactProblem(np.eye(3), [0, -1, 1], contacts))
    assert found.status.name == "UNIQUE"
    assert found.redundancy.sentences[-1] == "All reactions are determined all the same."


def test_independent_constraints_have_no_redundancy():
    assert reactions_of_problem(block(0.4)).redundancy is None


# --- what rests on little ------------------------------------------------------------------------------


@pytest.mark.parametrize("over", [1e-10, -1e-10])
def test_a_mode_decided_by_less_than_the_tolerance_is_marginal(over):
    found = reactions_of_problem(block(0.5 + over), certify=False, exact=False)
    assert found.status.name == "FOUND"
    assert not found.complete
    assert "friction beyond its bound" in found.marginal[0]


def test_a_certificate_decides_where_the_enumeration_is_marginal():
    found = reactions_of_problem(block(0.5 + 1e-10), exact=False)
    assert found.status.name == "UNIQUE"
    assert found.certificate.scope == "every force"


def test_nearly_no_solution_is_undecided_and_clearly_none_is_none():
    # painleve paradox; the gap acceleration without contact is s spin^2 - g
    def near(excess):
        return painleve(1.4, 60, spin=np.sqrt((9.81 + excess) / np.sin(np.pi / 3)))

    for size in 10.0 ** np.arange(-11, -4, 0.5):
        above, below = (reactions_of_problem(near(each), exact=False) for each in (size, -size))
        sure = size > 3e-8  # the tolerance 1e-9 times the load 9.81, amplified by 1/0.069, the determinant
        assert above.status.name in ({"MULTIPLE"} if sure else {"FOUND", "MULTIPLE"})
        assert below.status.name in ({"NONE"} if sure else {"FOUND", "UNDECIDED"})
        assert above.complete == below.complete == sure
        assert sure or (above.marginal and below.marginal)


def test_nothing_is_proved_with_a_mass_matrix_that_rounding_swamps():
    mass = np.array([[1.0, 1 - 1e-12], [1 - 1e-12, 1.0]])
    found = reactions_of_problem(ContactProblem(mass, [0.4, -1.0], block(0.4).contacts), exact=False)
    assert found.status.name == "FOUND"
    assert found.certificate is None
    assert "rounding of the mass matrix, whose condition number is 2.0e+12" in found.marginal[-1]


def test_the_tolerance_is_an_argument_and_is_kept():
    found = reactions_of_problem(block(0.5 + 1e-10), certify=False, tol=1e-12)
    assert found.complete
    assert found.solutions[0].modes == ("slip+",)
    assert found.provenance.tolerances["tol"] == 1e-12


# --- many contacts ------------------------------------------------------------------------------


def random_problem(k, seed, **changes):
    rng = np.random.default_rng(seed)
    contacts = [
        Contact(rng.normal(size=2 * k), tangent=rng.normal(size=2 * k), friction=rng.uniform(0.2, 1), **changes)
        for _ in range(k)
    ]
    return ContactProblem(np.eye(2 * k), rng.normal(size=2 * k), contacts)


@pytest.mark.parametrize(
    ("count", "changes"),
    [
        (10, {}),
        pytest.param(12, {}, marks=pytest.mark.nightly),
        (12, {"slip": 1.0}),
        (12, {"slip": -1.0, "bilateral": True}),
    ],
)
def test_a_dozen_contacts_are_enumerated_to_the_end(count, changes):
    found = reactions_of_problem(random_problem(count, 1, **changes))
    assert found.complete
    assert found.residual < 1e-12


def test_a_body_on_twelve_points_has_a_polytope_of_reactions():
    contacts = [Contact([0, 1, x], tangent=[1, 0, 0.5], friction=0.5) for x in np.linspace(-1, 1, 12)]
    found = reactions_of_problem(ContactProblem(np.diag([1, 1, 0.4]), [0.1, -1, 0.05], contacts))
    assert found.status.name == "UNIQUE_MOTION"
    (solution,) = found.solutions
    assert solution.dimension == 2 * 12 - 3
    assert found.residual < 1e-12


def test_one_solution_is_enough_if_that_is_all_that_is_asked():
    found = reactions_of_problem(random_problem(8, 3), every=False)
    assert found.status.name == "FOUND"
    assert "65536 combinations of modes" in found.note
    assert found.residual < 1e-12


def test_beyond_the_budget_one_solution_is_found_by_pivoting_and_the_cost_is_told():
    found = reactions_of_problem(random_problem(20, 4), budget=500)
    assert found.status.name == "FOUND"
    assert not found.complete
    assert "500 linear programs were spent" in found.note
    assert found.residual < 1e-12


def test_a_certificate_for_every_force_makes_one_solution_complete():
    found = reactions_of_problem(random_problem(8, 5, slip=1.0), every=False)
    kinds = [certificate.kind for certificate in found.certificates if certificate.unique]
    assert (found.status.name == "UNIQUE") == bool(kinds)
    frictionless = ContactProblem(np.eye(200), -np.ones(200), [Contact(np.eye(200)[j]) for j in range(100)])
    found = reactions_of_problem(frictionless)
    assert found.status.name == "UNIQUE"
    assert found.complete
    assert found.note == ""


def many_blocks(k):
    n, one, first = 2 * k, np.ones(1), np.array([0, 1])
    row = [sparse.csr_matrix((one, np.array([i]), first), shape=(1, n)) for i in range(n)]
    contacts = [Contact(row[2 * j + 1], tangent=row[2 * j], friction=0.5) for j in range(k)]
    return ContactProblem(sparse.identity(n), np.tile([0.1, -1.0], k), contacts)


def test_every_solution_of_ten_thousand_contacts_is_too_much_and_says_so():
    problem = many_blocks(10_000)
    found = reactions_of_problem(problem, every=True)
    assert found.status.name in {"FOUND", "UNIQUE"}
    assert set(found.solutions[0].modes) == {"stick"}
    assert found.residual < 1e-8
    assert "10^6021 combinations of modes of 10000 contacts" in found.note


# --- arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, call",
    [
        ("got a list, needed a ContactProblem", lambda: reactions_of_problem([1, 2])),
        (
            "greater than 0 and at most 0.001; it was given 0.1",
            lambda: reactions_of_problem(block(1), tol=0.1),
        ),
        ("friction is str 'mu', needed", lambda: Contact([0, 1], tangent=[1, 0], friction="mu")),
        ("2 names for 1 contacts", lambda: reactions_of_problem(block(1), subject=Subject(names=["a", "b"]))),
    ],
)
def test_wrong_arguments_are_told_what_is_needed(words, call):
    with pytest.raises(DeclarationError, match=words):
        call()


def test_sparse_rows_give_the_same_answer():
    row = sparse.csr_array(([1.0], ([0], [1])), shape=(1, 2))
    problem = ContactProblem(sparse.identity(2), [0.8, -1.0], [Contact(row, tangent=[[1, 0]], friction=0.5)])
    assert reactions_of_problem(problem).accelerations == pytest.approx(reactions_of_problem(block(0.8)).accelerations)


def test_the_same_arrays_have_the_same_digest_and_others_another():
    first, again, other = (reactions_of_problem(block(push)).provenance.digest for push in (0.4, 0.4, 0.5))
    assert first == again != other


# --- how it reads, and files ------------------------------------------------------------------------------


def test_no_reaction_reads_as_a_table():
    assert repr(reactions_of_problem(painleve(1.4, 60), subject=Subject("rod"))) == (
        "Reactions of 'rod': NONE. No reaction satisfies the laws at this state.\n"
        "  tip open    force 0          gap acceleration -9.81   rejected: penetrates\n"
        "  tip slip-   force -142.892   gap acceleration 0       rejected: pulls\n"
        "  certificate (this state): All 2 combinations of modes were decided: no solution."
    )


def test_several_solutions_read_as_a_table():
    text = repr(reactions_of_problem(ladder(120, 0.8, 0.4, (0.5, -1, 1)), subject=Subject("ladder")))
    lines = text.splitlines()
    assert lines[0] == "Reactions of 'ladder': MULTIPLE. Several accelerations satisfy the laws."
    assert lines[1] == "  solution 1 of 2: acceleration (0, 0, 0), dimension 1 (2 vertices)"
    expected = "floor stick force 1.14971 to 1.17337 friction -0.93343 to -0.91977 gap acceleration 0"
    assert " ".join(lines[2].split()) == expected
    assert "solution 2 of 2: acceleration (0.274246, 0, 0.0914153)" in text
    assert text.splitlines()[-1].startswith("  residual")
    assert repr(reactions_of_problem(rod(1, 1, 0.3)).solutions[0]).startswith("  Solution: acceleration")


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_results_survive_a_file(tmp_path, ending):
    found = reactions_of_problem(ladder(120, 0.8, 0.4, (0.5, -1, 1)), subject=Subject("ladder"))
    again = load_result(found.save(tmp_path / f"ladder{ending}"))
    assert repr(again) == repr(found)
    assert again.solutions[0].modes["wall"] == "stick"
    assert again.rejected["open", "open"] == found.rejected["open", "open"]
    assert again.solutions[0].vertices[0].normal.tolist() == found.solutions[0].vertices[0].normal.tolist()


def test_modes_are_found_by_place_and_by_name():
    modes = Modes(("open", "slip-"), names=("left", "right"))
    assert modes["right"] == modes[1] == "slip-"
    assert modes == ("open", "slip-")
    assert modes[:1] == ("open",)


def test_self_stress_of_friction_in_a_plane_says_which_component_it_is():
    """Two points of one body that stick on a floor can be pulled apart along the line that joins them, and only so."""
    rows = {-1.0: np.eye(6), 1.0: np.eye(6)}
    contacts = []
    for side, at in rows.items():
        at[:, 5] = (0.0, side, 0.0, 0.0, 0.0, 0.0)  # turning about z moves (side, 0) along y
        at[2, 4] = -side
        contacts.append(Contact(at[2], tangent=at[:2], friction=0.5, name="left" if side < 0 else "right"))
    words = reactions_of_problem(ContactProblem(np.eye(6), [0, 0, -1, 0, 0, 0], contacts)).redundancy.sentences
    assert "Free self-stress: T1(left) +1, T1(right) -1." in words


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e-17, 1e-25])
@pytest.mark.parametrize("twice", [False, True])
def test_accelerations_are_rounding_in_the_unit_of_their_own_coordinate(unit: float, twice: bool) -> None:
    # The first coordinate is a length in units that make it tiny beside the second.
    floor = Contact([0, 1], tangent=[[1 / unit, 0]], friction=0.25, name="floor")
    again = Contact([0, 1], tangent=[[1 / unit, 0]], friction=0.25, name="again")
    mass = np.diag([unit**-2, 1.0])
    problem = ContactProblem(mass, [3 / unit, -1.0], contacts=[floor, again] if twice else [floor])
    found = reactions_of_problem(problem)
    assert found.residual < 1e-14
    np.testing.assert_allclose(found.accelerations, [[2.75 * unit, 0.0]], rtol=1e-14)


def test_a_row_that_is_rounding_beside_inertia_leaves_accelerations_as_they_are() -> None:
    row = Contact([2.25, -(2.0**-51)], tangent=[[3.0, -0.75]], friction=2.0, bilateral=True)
    pushed = Contact([0.25, -0.75], tangent=[[-0.25, -1.75]], friction=0.25, slip=[1.0], normal_force=1.0)
    found = reactions_of_problem(ContactProblem(np.diag([0.0, 1.0]), [0.0, -1.0], contacts=[row, pushed]))
    assert len(found.accelerations) == 3 and found.residual < 1e-12
