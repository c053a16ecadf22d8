"""Friction that goes with the forces of other constraints: several laws on one normal force, and resultants of pins."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw


def wheel(**changes):
    """A disc on a slope: sliding, and rolling resistance with the lever f, both on one normal force."""
    (x, y, _), (vx, vy, w) = zw.coordinates("x y a")
    m, R, mu, f, g, beta = zw.parameters("m R mu f g beta")
    contact = zw.Unilateral(y - R, friction=zw.Coulomb(mu, slip=vx - R * w), restitution=0, name="wheel")
    rolling = zw.Friction(f, slip=w, of="wheel", name="rolling")
    declared = {
        "kinetic": m * (vx**2 + vy**2) / 2 + m * R**2 * w**2 / 4,
        "potential": m * g * (y * sp.cos(beta) - x * sp.sin(beta)),
        "constraints": [contact, rolling],
        "name": "wheel",
    }
    return zw.System(**(declared | changes))


def test_friction_of_another_constraint_is_kept_by_files_and_copies(tmp_path):
    system = wheel()
    assert system.constraints["rolling"].of == ("wheel",)
    system.save(tmp_path / "wheel.toml")
    again = zw.load(tmp_path / "wheel.toml")
    assert again == system and again.constraints["rolling"].of == ("wheel",)
    assert system.replace(name="wheel").constraints["rolling"].of == ("wheel",)
    without = [system.constraints["wheel"], zw.Friction("f", slip="v_a", name="rolling")]
    assert system.replace(constraints=without).digest != system.digest
    assert "times the force of wheel" in repr(system)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("wheels", "is of 'wheels', which isn't there. Did you mean 'wheel'?"),
        ("brake", "which is Friction itself and presses nothing together"),
        (("wheel", "wheel"), "of= names 'wheel' twice"),
        (3, "of= must be the name of a constraint, or a tuple of names; it was given 3"),
    ],
)
def test_what_loads_a_friction_is_named_where_it_is_wrong(of, words):
    system, brake = wheel(), zw.Friction(1, slip="v_x", name="brake")

    def declare():
        rolling = zw.Friction("f", slip="v_a", of=of, name="rolling")
        system.replace(constraints=[system.constraints["wheel"], brake, rolling])

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


def test_two_laws_along_one_slip_on_one_force_are_refused():
    system = wheel()
    twice = zw.Friction("f", slip="v_x - R*v_a", of="wheel", name="twice")
    with pytest.raises(zw.DeclarationError, match="'wheel' and 'twice' are two laws of friction along the slip"):
        system.replace(constraints=[system.constraints["wheel"], twice])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"of": "a"}, "of is 'a', needed the number of a contact"),
        ({"of": (0, 0)}, "of names a contact twice"),
        ({"of": 0, "normal_force": 1.0}, "of goes with the forces of other contacts, and a normal_force is given too"),
        ({"of": 0, "static_friction": 0.5}, "of and static_friction are both given"),
        ({"of": 7}, "has of=(7,), and there are 2 contacts, 0 to 1"),
        ({"of": 1}, "contacts[1] has no normal and presses nothing"),
    ],
)
def test_arrays_say_what_is_wrong_with_a_load(arguments, words):
    def declare():
        rolling = zw.Contact(None, tangent=[0, 0, 1], friction=0.1, **arguments)
        zw.ContactProblem(np.eye(3), [0, -1, 0], [zw.Contact([0, 1, 0]), rolling])

    with pytest.raises(zw.DeclarationError) as caught:
        declare()
    assert words in str(caught.value)


def test_a_file_says_what_is_wrong_with_a_load(tmp_path):
    wheel().save(tmp_path / "wheel.toml")
    text = (tmp_path / "wheel.toml").read_text().replace('of = ["wheel"]', "of = 3")
    (tmp_path / "wheel.toml").write_text(text)
    with pytest.raises(zw.DeclarationError, match="'of' must be the name of a constraint, or a list of names"):
        zw.load(tmp_path / "wheel.toml")
