"""Build the one module that is compiled; everything else stands in pyproject.toml.

It keeps to the stable interface of CPython 3.11, so that one wheel of a platform holds for later
versions, too. Builds of CPython without its lock have no such interface.
"""

import sysconfig

from setuptools import Extension, setup

STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

leiden = Extension(
    "groupfs.discovery.leiden",
    ["src/groupfs/discovery/leiden.pyx"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
    py_limited_api=STABLE,
)

setup(
    ext_modules=[leiden],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
