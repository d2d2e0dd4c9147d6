"""How the documentation is built: ``python -m sphinx -W --keep-going -b html docs out/docs``.

Nothing is fetched while building and nothing while reading: formulas become MathML, and links to
other projects are plain addresses.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import groupfs  # noqa: E402

project = "groupfs"
author = "The groupfs developers"
copyright = author
version = release = groupfs.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "mathml",
    "source_links",
]
templates_path = ["_templates"]
exclude_patterns = ["gallery", "_ext", "auto_gallery/*.py", "auto_gallery/*.ipynb"]
default_role = "literal"
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!groupfs).*")]  # types of other projects
highlight_language = "python"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "groupfs"
html_static_path = ["_static"]
html_css_files = ["groupfs.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "groupfs"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"start": [], "performance": [], "results": [], "auto_gallery/*": []}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "reading_order.reading_order",
    "doc_module": ("groupfs",),
    "backreferences_dir": "api/backreferences",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "remove_config_comments": True,
    "capture_repr": (),
}

# Links between the pages are checked by every build and by tests/docs. Addresses elsewhere
# need a network: ``python -m sphinx -b linkcheck docs out/linkcheck`` where there is one.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False
linkcheck_ignore = [r"https://doi\.org/.*"]  # publishers answer programs with "forbidden"
