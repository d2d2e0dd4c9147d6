"""Model files that were tampered with: parts that would run something, and parts of wrong types."""

import json
import pickle
import zipfile

import numpy as np

from tests.support.fuzz.mutate import damaged
from tests.support.fuzz.seeds import unzipped, zipped
from tests.support.fuzz.structure import (
    ODD_VALUES,
    Spy,
    array,
    edited,
    hostile_numbers,
    npy,
    places,
)


def _node(loader, module, kind, **more):
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": 1, **more}


def _json(value):
    return _node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def _tuple(*values):
    return _node("TupleNode", "builtins", "tuple", content=list(values))


def _dict(**values):
    keys = [_node("TypeNode", "builtins", "str") for _ in values]
    keys = _node("ListNode", "builtins", "list", content=keys)
    return _node("DictNode", "builtins", "dict", content=values, key_types=keys)


COMMAND = _tuple(_json("true"))
SYSTEM = _node("FunctionNode", "os", "system")
GENERATOR = _dict(bit_generator=_json("seed"), state=_json(1))
#: Parts of a model that would run something if they were trusted.
HOSTILE_NODES = (
    _node("FunctionNode", "builtins", "exec"),
    SYSTEM,
    _node("TypeNode", "os", "system"),
    _node("TypeNode", "builtins", "eval"),
    _node("TypeNode", "trap", "Trap"),
    _node("ConstructorFromReduceNode", "os", "system", content=COMMAND),
    _node("ConstructorFromReduceNode", "subprocess", "Popen", content=COMMAND),
    _node("ConstructorFromReduceNode", "builtins", "exec", content=COMMAND),
    _node("ConstructorFromReduceNode", "groupfs.estimators.group_fs", "GroupFS", content=COMMAND),
    _node("ObjectNode", "trap", "Trap", content=_dict(a=_json(1))),
    _node("ObjectNode", "sklearn.pipeline", "Pipeline", content=_dict(steps=_json([]))),
    _node("ObjectNode", "sklearn.preprocessing._function_transformer", "FunctionTransformer"),
    _node(
        "PartialNode",
        "functools",
        "partial",
        content={"func": SYSTEM, "args": COMMAND, "kwds": _dict(), "namespace": _json(None)},
    ),
    _node(
        "MethodNode",
        "groupfs.estimators.group_fs",
        "GroupFS",
        content={
            "func": "fit",
            "obj": _node("ObjectNode", "groupfs.estimators.group_fs", "GroupFS"),
        },
    ),
    _node("OperatorFuncNode", "operator", "methodcaller", attrs=_tuple(_json("fit"))),
    _node("OperatorFuncNode", "operator", "attrgetter", attrs=_tuple(_json("__class__"))),
    _node("ReduceNode", "os", "system", __reduce__={"args": COMMAND}, content=_dict()),
    _node("TreeNode", "sklearn.tree._tree", "Tree", __reduce__={"args": COMMAND}, content=_dict()),
    _node("LossNode", "os", "system", __reduce__={"args": COMMAND}, content=_dict()),
    _node(
        "RandomGeneratorNode",
        "numpy.random._generator",
        "Generator",
        content={"bit_generator": GENERATOR, "seed_seq": _dict()},
    ),
    _node("ListNode", "os", "system", content=[_json("true")]),
    _node("DictNode", "os", "system", content={}, key_types=_tuple()),
    _node("SetNode", "builtins", "set", content=[_json([])]),
    _node("NdArrayNode", "numpy", "ndarray", type="numpy", file="1.npy"),
    _node("NdArrayNode", "numpy", "ndarray", type="numpy", file="../../etc/hostname"),
    _node("NdArrayNode", "numpy", "ndarray", type="numpy", file="spy.npy"),
    _node("NdArrayNode", "numpy", "float64", type="numpy", file="spy.npy"),
    _node("NdArrayNode", "numpy", "ndarray", type="json", content=[], shape=_json([10**12])),
    _node("SparseMatrixNode", "scipy.sparse", "csr_matrix", type="scipy", file="spy.npz"),
    _node("BytesNode", "builtins", "bytes", file="schema.json"),
    _node("CachedNode", "builtins", "dict"),
    _node("SliceNode", "builtins", "slice", content={"start": 0, "stop": 1, "step": None}),
    _dict(**{"__class__": _json("x")}),
)
ATTRIBUTES = (
    "transform",
    "get_support",
    "fit",
    "__class__",
    "__dict__",
    "n_features_in_",
    "groups_",
)
ODD_NAMES = (
    "os",
    "builtins",
    "trap",
    "numpy",
    "groupfs.estimators.group_fs",
    "groupfs.estimators.group_fs_path",
    "sklearn.base",
)
ODD_KINDS = (
    "system",
    "eval",
    "object",
    "GroupFS",
    "GroupFSPath",
    "GroupPath",
    "ndarray",
    "BaseEstimator",
)


def model(data, random):
    """A skops file with another tree of objects or with other arrays in it."""
    members = dict(unzipped(data))
    schema = json.loads(members["schema.json"])
    for _ in range(random.choice((1, 1, 2, 3))):
        edit = random.randrange(8)
        if edit < 4:
            schema = edited(schema, random, HOSTILE_NODES if edit < 3 else ODD_VALUES)
        elif edit == 4:
            name = random.choice(sorted(set(members) - {"schema.json"}))
            members[name] = random.choice((array, hostile_numbers, damaged))(members[name], random)
        elif edit == 5:
            _rename(schema, random)
        elif edit == 6:
            attributes = schema["content"]["selector"]["content"]["content"]
            attributes[random.choice((*ATTRIBUTES, *attributes))] = random.choice(
                (*HOSTILE_NODES, *map(_json, (1, "x", None, [1, 2], {})))
            )
        else:
            schema["protocol"] = random.choice((0, 1, 2, 3, -1, True, None, "2"))
    text = json.dumps(schema)
    if "spy.np" in text:
        spy = np.array([Spy()], dtype=object)
        members["spy.npy"] = npy(
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(spy)
        )
        members["spy.npz"] = zipped(
            {"data.npy": members["spy.npy"], "format.npy": members["spy.npy"]}
        )
    members["schema.json"] = text
    return zipped(members, compression=zipfile.ZIP_DEFLATED)


def _rename(schema, random):
    """Have a node claim another loader, module or type."""
    nodes = [tree for tree, key in places(schema) if key == "__loader__"]
    node = random.choice(nodes)
    loaders = [other["__loader__"] for other in (*nodes, *HOSTILE_NODES)]
    what = random.choice(("__loader__", "__module__", "__class__"))
    choices = {"__loader__": loaders, "__module__": ODD_NAMES, "__class__": ODD_KINDS}
    node[what] = random.choice(choices[what])
