#!/usr/bin/env bash
# Install a wheel alone and with each extra of its own, each in a new environment, and use it.
# bash .github/each_extra.sh dist/groupfs-*.whl
set -euo pipefail
wheel=$(realpath "$1")
cd "$(mktemp -d)"

check() { # name of the extra or "", Python that must run
    rm -rf venv
    uv venv --quiet venv
    uv pip install --quiet --python venv "groupfs${1:+[$1]} @ file://$wheel"
    venv/bin/python -c "$2"
    echo "${1:-base}: $(venv/bin/python -c 'import groupfs; print(groupfs.__version__)')"
}

fit='
from sklearn.datasets import load_wine
from groupfs import FeatureGroups
X = load_wine().data
selector = FeatureGroups(random_state=0).fit(X)
assert selector.transform(X).shape[1] > 2
'
check "" "$fit"
check joint "
from sklearn.datasets import load_wine
from groupfs import GroupFS
GroupFS(max_epochs=10, random_state=0).fit(load_wine().data)"
check plot "$fit
import matplotlib; matplotlib.use('Agg')
from groupfs.plotting import plot_groups; plot_groups(selector)"
check report "$fit
from groupfs.report import render, summarize; assert '<html' in render(summarize(selector, X))"
check io "$fit
from groupfs import persistence
persistence.save(selector, 'm.skops'); persistence.load('m.skops')"
check anndata "
from anndata import AnnData
from sklearn.datasets import load_wine
from groupfs.anndata import select_groups
adata = AnnData(load_wine().data); select_groups(adata); assert 'groupfs_group' in adata.var"
check data "import pandas, pooch, rdata, groupfs.datasets"
check cluster "$fit
import dask.array as da, distributed
FeatureGroups(random_state=0).fit(da.from_array(X, chunks=(60, -1)))"
check excel "import openpyxl, pandas, groupfs.files"
check spss "import pyreadstat, pandas, groupfs.files"
check cli "import groupfs.cli"
venv/bin/groupfs demo --out demo >/dev/null
test -s demo/report.html
echo "the command: demo/report.html was written"
