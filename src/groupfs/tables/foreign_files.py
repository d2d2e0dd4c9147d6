"""Files of other programs that are not read here: what each is, and how to get a csv of it."""

from pathlib import Path

from groupfs.tables.table import TableError

_SPREADSHEET = "open it in a spreadsheet and save the sheet as xlsx or csv"
_STATISTICS = "export it as csv there"
_R = "in R, write.csv(..., row.names = FALSE) saves a data frame as csv"
_UNPACK = "unpack it and name the file in it"
#: By ending: what such a file is, and what to do.
FOREIGN = {
    ".xls": ("an Excel workbook of the kind before 2007", _SPREADSHEET),
    ".xlsb": ("a binary Excel workbook", _SPREADSHEET),
    ".ods": ("a spreadsheet of LibreOffice", _SPREADSHEET),
    ".numbers": ("a spreadsheet of Numbers", _SPREADSHEET),
    ".dta": ("a Stata file", _STATISTICS),
    ".sas7bdat": ("a SAS file", _STATISTICS),
    ".xpt": ("a SAS transport file", _STATISTICS),
    ".por": ("a portable SPSS file", "save it as sav or csv there"),
    ".jmp": ("a JMP file", _STATISTICS),
    ".omv": ("a jamovi file", _STATISTICS),
    ".jasp": ("a JASP file", _STATISTICS),
    ".rds": ("an R object", _R),
    ".rda": ("a file of R objects", _R),
    ".rdata": ("a file of R objects", _R),
    ".pdf": ("a PDF document", "get the table as csv from whoever made it"),
    ".doc": ("a Word document", "copy its table to a spreadsheet and save that as csv"),
    ".docx": ("a Word document", "copy its table to a spreadsheet and save that as csv"),
    ".json": ("a JSON file", "save its table as csv"),
    ".xml": ("an XML file", "save its table as csv"),
    ".html": ("a web page", "save its table as csv"),
    ".pkl": ("a pickle, which can run code when it is loaded", "save its table as csv or parquet"),
    ".pickle": ("a pickle, which can run code when it is loaded", "save it as csv or parquet"),
    ".h5": ("an HDF5 file of unknown layout", "save cells as h5ad and other tables as parquet"),
    ".hdf5": ("an HDF5 file of unknown layout", "save cells as h5ad and other tables as parquet"),
    ".loom": ("a loom file", "save it as h5ad, in Python with anndata"),
    ".mtx": ("a Matrix Market file without names", "save it as h5ad, in Python with anndata"),
    ".zarr": ("a zarr folder", "save it as h5ad, in Python with anndata"),
    ".db": ("a database", "save the table as csv"),
    ".sqlite": ("a database", "save the table as csv"),
    ".tar": ("an archive", _UNPACK),
    ".tgz": ("an archive", _UNPACK),
    ".7z": ("an archive", _UNPACK),
    ".rar": ("an archive", _UNPACK),
}
#: By first bytes, for files with the name of a text: what it is, and the ending it should have.
DISGUISED = {
    b"PK\x03\x04": "an Office document or an archive; a workbook should end in xlsx",
    b"\xd0\xcf\x11\xe0": "an Office document of the kind before 2007; save its table as csv",
    b"$FL2": "an SPSS file, which should end in sav",
    b"$FL3": "an SPSS file, which should end in zsav",
    b"%PDF": "a PDF document; get the table as csv from whoever made it",
    b"\x89HDF": "an HDF5 file; cells should end in h5ad",
    b"PAR1": "a parquet file, which should end in parquet",
    b"ARROW1": "a feather file, which should end in feather",
    b"\x93NUMPY": "a numpy file, which should end in npy",
    b"MATLAB 5": "a Matlab file, which should end in mat",
    b"<stata_dta>": "a Stata file; export it as csv there",
    b"7z\xbc\xaf": f"an archive; {_UNPACK}",
    b"Rar!": f"an archive; {_UNPACK}",
}


def refuse_foreign(path: Path) -> None:
    """Refuse a file whose ending tells that another program wrote it."""
    if path.suffix.lower() in FOREIGN:
        what, remedy = FOREIGN[path.suffix.lower()]
        raise TableError(f"{path} is {what}, which is not read here; {remedy}.")


def refuse_disguised(data: bytes, source: str) -> None:
    """Refuse a text file whose first bytes tell that it is something else."""
    what = next((what for start, what in DISGUISED.items() if data.startswith(start)), None)
    if what is not None:
        raise TableError(f"{source} is not csv but, by its first bytes, {what}.")
