"""Build the modules that are compiled; everything else stands in pyproject.toml.

They keep to the stable interface of CPython 3.11, so that one wheel of a platform holds for later
versions, too. Builds of CPython without its lock have no such interface.
"""

import sysconfig

from setuptools import Extension, setup

STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
COMPILED = ("groupfs.data.select_largest", "groupfs.discovery.leiden")

modules = [
    Extension(
        name,
        [f"src/{name.replace('.', '/')}.pyx"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
        py_limited_api=STABLE,
    )
    for name in COMPILED
]

setup(
    ext_modules=modules,
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
