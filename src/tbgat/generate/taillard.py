"""Taillard's generator and the seeds of ta01 to ta80 (Taillard, 1993)."""

from __future__ import annotations

from collections.abc import Iterator

from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["SEEDS", "taillard", "taillard_benchmark"]

_MODULUS, _MULTIPLIER = 2**31 - 1, 16807

# Size of each group of ten, and the time and machine seed of its instances.
SEEDS: tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...] = (
    (
        15,
        15,
        (
            (840612802, 398197754),
            (1314640371, 386720536),
            (1227221349, 316176388),
            (342269428, 1806358582),
            (1603221416, 1501949241),
            (1357584978, 1734077082),
            (44531661, 1374316395),
            (302545136, 2092186050),
            (1153780144, 1393392374),
            (73896786, 1544979948),
        ),
    ),
    (
        20,
        15,
        (
            (533484900, 317419073),
            (1894307698, 1474268163),
            (874340513, 509669280),
            (1124986343, 1209573668),
            (1463788335, 529048107),
            (1056908795, 25321885),
            (195672285, 1717580117),
            (961965583, 1353003786),
            (1610169733, 1734469503),
            (532794656, 998486810),
        ),
    ),
    (
        20,
        20,
        (
            (1035939303, 773961798),
            (5997802, 1872541150),
            (1357503601, 722225039),
            (806159563, 1166962073),
            (1902815253, 1879990068),
            (1503184031, 1850351876),
            (1032645967, 99711329),
            (229894219, 1158117804),
            (823349822, 108033225),
            (1297900341, 489486403),
        ),
    ),
    (
        30,
        15,
        (
            (98640593, 1981283465),
            (1839268120, 248890888),
            (573875290, 2081512253),
            (1670898570, 788294565),
            (1118914567, 1074349202),
            (178750207, 294279708),
            (1549372605, 596993084),
            (798174738, 151685779),
            (553410952, 1329272528),
            (1661531649, 1173386294),
        ),
    ),
    (
        30,
        20,
        (
            (1841414609, 1357882888),
            (2116959593, 1546338557),
            (796392706, 1230864158),
            (532496463, 254174057),
            (2020525633, 978943053),
            (524444252, 185526083),
            (1569394691, 487269855),
            (1460267840, 1631446539),
            (198324822, 1937476577),
            (38071822, 1541985579),
        ),
    ),
    (
        50,
        15,
        (
            (17271, 718939),
            (660481279, 449650254),
            (352229765, 949737911),
            (1197518780, 166840558),
            (1376020303, 483922052),
            (2106639239, 955932362),
            (1765352082, 1209982549),
            (1105092880, 1349003108),
            (907248070, 919544535),
            (2011630757, 1845447001),
        ),
    ),
    (
        50,
        20,
        (
            (8493988, 2738939),
            (1991925010, 709517751),
            (342093237, 786960785),
            (1634043183, 973178279),
            (341706507, 286513148),
            (320167954, 1411193018),
            (1089696753, 298068750),
            (433032965, 1589656152),
            (615974477, 331205412),
            (236150141, 592292984),
        ),
    ),
    (
        100,
        20,
        (
            (302034063, 1203569070),
            (1437643198, 1692025209),
            (1792475497, 1039908559),
            (1647273132, 1012841433),
            (696480901, 1689682358),
            (1785569423, 1092647459),
            (117806902, 739059626),
            (1639154709, 1319962509),
            (2007423389, 749368241),
            (682761130, 262763021),
        ),
    ),
)


def taillard(
    jobs: int, machines: int, time_seed: int, machine_seed: int, *, name: str = ""
) -> Instance:
    """Draw durations from 1..99 and random routings by Taillard's published generator."""
    for seed in (time_seed, machine_seed):
        if not 0 < seed < _MODULUS:
            raise UsageError(f"a Taillard seed must be in 1..{_MODULUS - 1}, got {seed}")
    if jobs < 1 or machines < 1:
        raise UsageError(f"an instance needs at least one job and one machine: {jobs}x{machines}")
    times = _fractions(time_seed)
    durations = [[1 + _scaled(next(times), 99) for _ in range(machines)] for _ in range(jobs)]
    swaps = _fractions(machine_seed)
    routes = []
    for _ in range(jobs):
        route = list(range(machines))
        for k in range(machines):
            other = k + _scaled(next(swaps), machines - k)
            route[k], route[other] = route[other], route[k]
        routes.append(route)
    return Instance.from_arrays(durations, routes, name=name, num_machines=machines)


def taillard_benchmark(number: int) -> Instance:
    """Make ta01 to ta80 from the published seeds."""
    if not 1 <= number <= 80:
        raise UsageError(f"Taillard's job shops are numbered 1 to 80, got {number}")
    jobs, machines, seeds = SEEDS[(number - 1) // 10]
    return taillard(jobs, machines, *seeds[(number - 1) % 10], name=f"ta{number:02}")


def _fractions(seed: int) -> Iterator[int]:
    """Yield the states of the generator, each a numerator over its modulus."""
    while True:
        seed = seed * _MULTIPLIER % _MODULUS
        yield seed


def _scaled(state: int, count: int) -> int:
    """Map a state to ``0 .. count - 1``; in whole numbers, so no machine rounds it differently."""
    return state * count // _MODULUS
