"""List the rows of groups.csv, scales.csv, selected.csv and conditions.csv, from a summary."""

from groupfs.report.schema import Json

#: The columns of selected.csv; groups.csv has two more, as ``to_frame`` has them, one for every
#: level where there are several, one for every group's loadings, and the group's smoothness.
SELECTED_COLUMNS = (
    *("feature", "group", "rank", "representative", "centrality", "item_rest"),
    *("replication", "p_adjusted", "verdict", "stability", "second_group", "second_strength"),
    *("place", "relatedness_p_adjusted", "order", "explained"),
)
GROUPS_COLUMNS = (*SELECTED_COLUMNS, "selected", "why")
SCALES_COLUMNS = (
    *("group", "size", "representative", "kept", "selected"),
    *("alpha", "alpha_low", "alpha_high", "omega", "omega_low", "omega_high"),
    *("score_mean", "score_sd", "replication", "p_adjusted", "why"),
)
CONDITIONS_COLUMNS = (
    *("group", "representative", "condition", "n_samples"),
    *("cohesion", "cohesion_low", "cohesion_high"),
    *("mean", "mean_low", "mean_high", "mean_p_value", "mean_q_value", "mean_changes"),
    *("cohesion_p_value", "cohesion_q_value", "cohesion_changes"),
)


def groups_table(summary: Json) -> list[Json]:
    """List every feature with its group and whether and why it is selected, largest group first.

    The columns are those of ``to_frame``.
    """
    features, curve, texts = summary["features"], summary["explained"], summary["texts"]
    numbers, ranks = features["group"], features["rank"]
    order, rows = {feature: k for k, feature in enumerate(curve["order"], start=1)}, []
    levels = summary["levels"] if len(summary["levels"]) > 1 else []
    called = [of["name"] if of["is_given"] else of["rank"] for of in summary["groups"]]
    loadings = summary["scales"] and summary["scales"]["loadings"]
    for i in sorted(range(len(ranks)), key=lambda i: (numbers[i] is None, numbers[i], ranks[i])):
        group = {} if numbers[i] is None else summary["groups"][numbers[i]]
        at_levels = [None if (j := level["group"][i]) is None else j + 1 for level in levels]
        row = {
            "feature": features["name"][i],
            **({"wording": features["wording"][i]} if features["wording"] else {}),
            "group": called[numbers[i]] if group else None,
            "rank": ranks[i],
            "representative": group.get("representative") == i,
            "centrality": features["sign"][i] * abs(features["centrality"][i]) if group else None,
            "item_rest": features["item_rest"][i],
            **{name: group.get(name) for name in ("replication", "p_adjusted")},
            "verdict": features["verdict"][i],
            "stability": features["stability"][i],
            "second_group": None if (second := features["second"][i]) is None else called[second],
            "second_strength": features["second_strength"][i],
            "place": texts[features["place"][i]],
            "relatedness_p_adjusted": features["relatedness_p_adjusted"][i],
            "order": order.get(i),
            "explained": curve["share"][order[i] - 1] if i in order else None,
            "selected": bool(features["selected"][i]),
            "why": texts[features["reason"][i]],
            **{f"level_{k}": number for k, number in enumerate(at_levels, start=1)},
            **{f"loading_{k}": x for k, x in enumerate(loadings[i] if loadings else (), start=1)},
            "smoothness": group.get("smoothness"),
        }
        rows.append(row)
    return rows


def scales_table(summary: Json) -> list[Json]:
    """List every group with its reliability and its correlations with the others, largest first.

    The columns are those of ``groups_frame``.
    """
    told, wording, rows = summary["scales"], summary["features"]["wording"], []
    for j, group in enumerate(summary["groups"]):
        named = {"group": group["name"] if group["is_given"] else group["rank"]}
        named |= {"representative": group["representative_name"], "selected": group["n_selected"]}
        row = {}
        for name in SCALES_COLUMNS:
            row[name] = (group | named)[name]
            if name == "omega_high" and "short_r" in group:
                row |= {of: group[of] for of in ("short_r", "short_alpha")}
            if name == "representative" and wording:
                row["wording"] = wording[group["representative"]]
        row |= {} if group["gate"] is None else {"gate": group["gate"]}
        for name, key in (("r", "correlations"), ("r_disattenuated", "disattenuated")):
            row |= {f"{name}_{k}": r for k, r in enumerate(told[key][j] if told else (), start=1)}
        rows.append({**row, "smoothness": group["smoothness"]})
    return rows


def selected_table(summary: Json) -> list[Json]:
    """List the selected features alone, in the order of :func:`groups_table`."""
    rows = [row for row in groups_table(summary) if row["selected"]]
    columns = {"wording", *SELECTED_COLUMNS}
    return [{name: of for name, of in row.items() if name in columns} for row in rows]


def conditions_table(summary: Json) -> list[Json]:
    """List every group in every condition, or at every place along a number."""
    part, rows = summary["conditions"], []
    for group in part["groups"]:
        for k, condition in enumerate(part["conditions"]):
            of = {**group, "condition": condition, "n_samples": part["n_samples"][k]}
            row = {name: of.get(name) for name in CONDITIONS_COLUMNS}
            rows.append({name: v[k] if isinstance(v, list) else v for name, v in row.items()})
    return rows
