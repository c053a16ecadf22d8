"""The papers that entries of the gallery come from."""

from __future__ import annotations

IVANOV = "A. P. Ivanov, Russian Journal of Nonlinear Dynamics 9(3) (2013) 479-498"
BURIAN_2017 = "S. N. Burian, Vestnik SPbSU. Mathematics. Mechanics. Astronomy 4(62)(4) (2017) 541-551"
BURIAN_2024 = "S. N. Burian, Vestnik SPbSU. Mathematics. Mechanics. Astronomy 11(69)(4) (2024) 755-771"
KOZLOV_NEISHTADT = "V. V. Kozlov, A. I. Neishtadt, Prikladnaya Matematika i Mekhanika 54(5) (1990) 858-861"
SALNIKOVA = (
    "T. V. Salnikova, E. I. Kugushev, A. A. Demidov, Dynamics of systems with one-sided differential constraints, "
    "Doklady RAN. Matematika, Informatika, Protsessy Upravleniya (2023)"
)
PAINLEVE = "P. Painlevé, Leçons sur le frottement (1895)"
