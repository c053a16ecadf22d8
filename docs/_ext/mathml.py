"""Formulas as MathML: an html math renderer for Sphinx that needs no script, no font and no network.

Browsers draw MathML themselves. The LaTeX of each formula is converted when the pages are built; what the converter
does not understand is a warning, and the build treats warnings as errors, so no page shows raw LaTeX.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

# Environments that latex2mathml lacks, by the ones of the same meaning that it has.
SAME_AS = {"aligned": "split", "gathered": "split", "equation": "", "equation*": ""}

# The converter sets the name of a function like a variable; TeX leaves a thin space around it, but none before "(".
FUNCTIONS = "arccos|arcsin|arctan|cos|cosh|cot|csc|deg|dim|exp|ker|lg|ln|log|sec|sin|sinh|tan|tanh"
FUNCTION = re.compile(rf"<mi>({FUNCTIONS})</mi>(?=(<mo[^>]*>&#x00028;)?)")


def _spaced(match: re.Match[str]) -> str:
    right = "0" if match[2] else "0.1667em"
    return f'<mo lspace="0.1667em" rspace="{right}">{match[1]}</mo>'


def mathml(latex: str, *, display: bool = False) -> str:
    """Convert a formula; a ValueError says what the converter could not read."""
    text = _known_environments(latex.strip())
    if display and r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{split}}{text}\end{{split}}"
    try:
        markup = convert(text, display="block" if display else "inline")
        tree = ElementTree.fromstring(markup)
    except Exception as error:
        # The converter has a dozen exception classes without a common base; all of them mean the same to an author.
        raise ValueError(f"{type(error).__name__}: {error}".rstrip(": ")) from error
    leftover = [element.text for element in tree.iter() if element.text and re.search(r"\\|^&$", element.text)]
    if leftover:
        raise ValueError(f"not understood: {', '.join(leftover)}")
    markup = FUNCTION.sub(_spaced, markup)
    # A screen reader, a search and a copy keep the source of the formula.
    return markup.replace("<math ", f'<math alttext="{html.escape(" ".join(latex.split()))}" ', 1)


def _known_environments(latex: str) -> str:
    def rename(match: re.Match[str]) -> str:
        name = SAME_AS.get(match[2], match[2])
        return rf"\{match[1]}{{{name}}}" if name else ""

    return re.sub(r"\\(begin|end)\{([a-zA-Z]+\*?)\}", rename, latex)


def _render(node: nodes.Element, *, display: bool) -> str:
    latex = node.astext()
    try:
        return mathml(latex, display=display)
    except ValueError as error:
        logger.warning("formula %r: %s", latex, error, location=node, type="mathml")
        return f"<code>{html.escape(latex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    self.body.append(_render(node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number where it has a label."""
    self.body.append(self.starttag(node, "div", "", CLASS="math"))
    if node.get("number"):
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(_render(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; the style sheet aligns columns, which MathML in browsers leaves to CSS."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.add_css_file("mathml.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
