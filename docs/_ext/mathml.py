"""Formulas as MathML, which browsers draw themselves: no script, no font, no request."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(translator: object, node: nodes.math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed(translator: object, node: nodes.math_block) -> None:
    anchor = ""
    if node.get("ids"):
        anchor = f' id="{node["ids"][0]}"'
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({node["number"]})</span>'
    mathml = _mathml(node, as_block=True)
    translator.body.append(f'<div class="math-block"{anchor}>{mathml}{number}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, as_block: bool) -> str:
    source = node.astext()
    try:
        return latex2mathml.tex2mathml(source, as_block=as_block)
    except MathError as error:
        logger.warning("formula cannot be drawn (%s): %s", error, source, location=node)
        return f"<code>{source}</code>"
