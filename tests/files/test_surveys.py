"""Exports of survey programs, wording of columns and codebooks."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from groupfs.files import ColumnPreparer, TableError, read_table
from groupfs.files.codebook import read_renamed, read_wording
from groupfs.files.columns import Preparation, decide_columns
from groupfs.files.large_text import read_sample

# Layouts as the programs' manuals and public readers of their exports describe them.
ANSWERS = np.random.default_rng(0).integers(1, 6, (40, 3))
QUALTRICS = [
    ["StartDate", "Status", "Progress", "Finished", "ResponseId", "Q1", "Q2_1", "Q2_2"],
    ["Start Date", "Response Type", "Progress", "Finished", "Response ID"]
    + ["How are\nyou, today?", "I am - calm", 'I am - "tense"\n\nor so'],
    ['{"ImportId":"startDate","timeZone":"UTC"}', *['{"ImportId":"status"}'] * 3]
    + ['{"ImportId":"_recordId"}', '{"ImportId":"QID1"}', *['{"ImportId":"QID2_1"}'] * 2],
    *(
        [f"2024-05-{1 + i % 28:02} 10:00:00", i % 2, 100 - i % 3, i % 2, f"R_{i}", *row]
        for i, row in enumerate(ANSWERS.tolist())
    ),
]
MONKEY = [
    [
        "Respondent ID",
        "Collector ID",
        "Start Date",
        "Email Address",
        "How old?",
        "I am",
        "",
        "Why?",
    ],
    ["", "", "", "", "Response", "calm", "tense", "Open-Ended Response"],
    *(
        [11_000 + 7 * i, 5, "01/02/2024 10:00:00 AM", "", *row, f"because {i}"]
        for i, row in enumerate(ANSWERS.tolist())
    ),
]
LIME = [
    ["id", "submitdate", "lastpage", "startlanguage", "seed", "G01Q01", "G01Q02[SQ001]", "age"],
    *(
        [i, f"2024-05-{1 + i % 28:02} 10:00:00", 3 + i % 2, "en", 97 * i, *row]
        for i, row in enumerate(ANSWERS.tolist(), 1)
    ),
]
REDCAP = [
    ["record_id", "redcap_event_name", "q1", "q2___1", "q3", "survey_complete"],
    *([i // 2, f"visit_{i % 2}_arm_1", *row, i % 3] for i, row in enumerate(ANSWERS.tolist())),
]


def write(path, rows, separator=","):
    if path.suffix == ".xlsx":
        frame = pd.DataFrame([[None if cell == "" else cell for cell in row] for row in rows])
        frame.to_excel(path, header=False, index=False)
    else:
        csv.writer(text := io.StringIO(newline=""), delimiter=separator).writerows(rows)
        path.write_bytes(text.getvalue().encode())
    return path


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.xlsx", "large.csv"])
def test_further_header_rows_of_qualtrics_are_wording_and_no_answers(name, tmp_path):
    path = write(tmp_path / name, QUALTRICS, "\t" if name == "s.tsv" else ",")
    table = (read_sample if name == "large.csv" else read_table)(path)
    assert table.n_rows == 40 and table.names == QUALTRICS[0]
    assert table.labels["Q1"] == "How are you, today?"
    assert table.labels["Q2_2"] == 'I am - "tense" or so' and "Progress" not in table.labels
    assert "Recognised a Qualtrics export: its 3 header rows" in table.notes[0]
    preparation = decide_columns(table.values)
    assert preparation.names == ["Q1", "Q2_1", "Q2_2"]
    np.testing.assert_array_equal(preparation.apply(table.values)[0], ANSWERS)
    assert preparation.notes == (
        "Left out 5 columns that Qualtrics writes beside the answers (use=[NAME] keeps one): "
        "StartDate, Status, Progress, Finished, ResponseId.",
        "Finished is 0 in 20 rows and Status is 1 in 20 rows: people who did not finish, or tests "
        "of the survey. They count here; leave the rows out of the file if they should not.",
    )
    assert "Progress" in decide_columns(table.values, use="Progress").names


def test_wording_of_many_lines_is_read_to_its_end(tmp_path):
    rows = [list(row) for row in QUALTRICS]
    rows[1][5] = "one\n" * 99 + "two"
    table = read_table(write(tmp_path / "s.csv", rows))
    assert table.n_rows == 40 and table.labels["Q1"] == "one " * 99 + "two"


@pytest.mark.parametrize("name", ["s.csv", "s.xlsx", "large.csv"])
def test_questions_and_options_of_surveymonkey_are_names(name, tmp_path):
    path = write(tmp_path / name, MONKEY)
    table = (read_sample if name == "large.csv" else read_table)(path)
    assert table.n_rows == 40 and table.names[4:] == [
        "How old?",
        "I am: calm",
        "I am: tense",
        "Why?",
    ]
    preparation = decide_columns(table.values)
    assert preparation.names == table.names[4:7]
    np.testing.assert_array_equal(preparation.apply(table.values)[0], ANSWERS)


@pytest.mark.parametrize(
    ("rows", "program", "kept"), [(LIME, "LimeSurvey", 5), (REDCAP, "REDCap", 2)]
)
def test_what_other_programs_write_beside_answers_is_left_out(rows, program, kept, tmp_path):
    table = read_table(write(tmp_path / "s.csv", rows))
    preparation = decide_columns(table.values)
    assert preparation.names == rows[0][kept : kept + 3]
    assert f"that {program} writes beside the answers" in preparation.notes[0]


def test_forms_of_google_need_nothing(tmp_path):
    times = [f"2022/06/22 11:{i % 60:02}:29 AM AST" for i in range(40)]
    rows = [["Timestamp", "How are you?", "Why, in short?", "I am calm"]]
    rows += [[time, *row] for time, row in zip(times, ANSWERS.tolist(), strict=True)]
    frame = read_table(write(tmp_path / "s.csv", rows)).values
    assert decide_columns(frame).names == rows[0][1:]


def test_tables_with_a_few_such_names_are_no_exports(tmp_path):
    names = ["id", "Status", "Progress", "Finished", "seed", "First Name"]
    rows = [names, *([i, i % 3, i % 5, i % 2, i % 7, "ab"[i % 2]] for i in range(40))]
    table = read_table(write(tmp_path / "s.csv", rows))
    assert table.n_rows == 40 and decide_columns(table.values).names == names[1:]


def test_labels_of_spss_are_wording_and_stay_with_the_columns_that_are_used(tmp_path):
    spss = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"id": [7, 3, 9, 4], "q1": [1, 2, 3, 3], "q2": [1, 1, 2, 3]})
    spss.write_sav(frame, tmp_path / "s.sav", column_labels=["number", "I am calm", None])
    table = read_table(tmp_path / "s.sav")
    assert table.labels == {"id": "number", "q1": "I am calm"}
    preparation = decide_columns(table.values).with_labels(table.labels)
    assert preparation.labels == {"q1": "I am calm"}
    assert preparation.with_labels({"q2": "new"}).labels == {"q1": "I am calm", "q2": "new"}
    stored = preparation.to_dict()
    assert Preparation.from_dict(stored) == preparation
    del stored["labels"]
    assert Preparation.from_dict(stored).labels == {}


def test_a_preparer_leaves_out_what_an_export_adds():
    frame = pd.DataFrame(QUALTRICS[3:], columns=QUALTRICS[0])
    assert ColumnPreparer().fit(frame).preparation_.names == ["Q1", "Q2_1", "Q2_2"]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("name,wording\nq1,Calm\nq2,Tense\nq9,Other\n", {"q1": "Calm", "q2": "Tense"}),
        ("q1;Calm, or so\nq2;Tense\n", {"q1": "Calm, or so", "q2": "Tense"}),
        ("no,text,item\n1,Calm,q1\n2,Tense,q2\n", {"q1": "Calm", "q2": "Tense"}),
        ("form,says,in file\nf,Calm or so,q1\nf,,q2\n", {"q1": "Calm or so"}),
        ("Variable / Field Name,Form Name,Field Label\nq1,f,Calm\nq2,form two,\n", {"q1": "Calm"}),
        ("column,label,old_name\nq1,Calm,a1\nq2,Tense,\n", {"q1": "Calm", "q2": "Tense"}),
        ("name,label,new name\nq1,Calm,z1\n", {"q1": "Calm"}),  # read beside this year's file
        ("in 2025,in 2024,says\nz1,q1,Calm\nq2,q2,Tense\n", {"q1": "Calm", "q2": "Tense"}),
    ],
)
def test_codebooks_give_the_wording_of_columns_whatever_their_headings(text, labels, tmp_path):
    (tmp_path / "c.csv").write_text(text)
    found, told = read_wording(tmp_path / "c.csv", ["q1", "q2", "x"])
    assert found == labels and f"of {len(labels)} of 3 columns by name" in told


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("column,label,old_name\nq1,Calm,a1\nq2,Tense,\n", {"q1": "a1"}),
        ("name,new name\na1,q1\nq2,\n", {"q1": "a1"}),
        ("in 2025,in 2024,says\nq1,a1,Calm\nq2,q2,Tense\n", {"q1": "a1"}),
        ("in 2025,in 2024,says\na1,q1,Calm\nq2,q2,Tense\n", {"q1": "a1"}),  # the other way
        ("old name,new name\nq1,q2\nq2,x\nx,q1\n", {"q2": "q1", "x": "q2", "q1": "x"}),
        ("name,old name\nq1,x\nq2,a1\n", {"q2": "a1"}),  # the table has an x of its own
    ],
)
def test_columns_of_another_name_are_found_by_the_names_on_either_side(text, renamed, tmp_path):
    (tmp_path / "c.csv").write_text(text)
    found, told = read_renamed(tmp_path / "c.csv", ["q1", "q2", "x"], ["a1", "q1", "q2", "x"])
    assert found == renamed
    assert all(f"{new} for {old}" in told for new, old in renamed.items())


def test_a_codebook_that_renames_nothing_that_is_lacking_says_so(tmp_path):
    (tmp_path / "c.csv").write_text("name,label\nq1,Calm\n")
    renamed, told = read_renamed(tmp_path / "c.csv", ["q1"], ["q1", "a1"])
    assert not renamed and "renames no column, and the table lacks a1 of the model" in told
    assert read_renamed(tmp_path / "c.csv", ["q1"], ["q1"]) == ({}, "")


def test_a_codebook_may_be_a_sheet(tmp_path):
    write(tmp_path / "c.xlsx", [["Field Name", "Field Label"], ["q1", "Calm"]])
    assert read_wording(tmp_path / "c.xlsx", ["q1"])[0] == {"q1": "Calm"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name\nq1\n", r"has 1 column \(name\); a codebook has one with the names"),
        ("name,label\nz1,Calm\n", r"no codebook of this table: .* \(z1\) the table \(q1, q2\)"),
    ],
)
def test_what_is_no_codebook_is_refused_in_a_sentence(text, says, tmp_path):
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(TableError, match=says):
        read_wording(tmp_path / "c.csv", ["q1", "q2"])
