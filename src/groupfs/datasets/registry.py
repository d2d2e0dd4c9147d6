"""Every table that can be fetched: its files, their homes and sha256, and a description."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from groupfs.datasets import parsers
from groupfs.datasets.parsers import Parsed
from groupfs.datasets.published_files import File


@dataclass(frozen=True)
class Entry:
    """One table: the files it is read from, and the function that reads their contents."""

    description: str
    files: tuple[File, ...]
    read: Callable[..., Parsed]
    image_shape: tuple[int, int] | None = None


def _scikit_feature(name: str, sha256: str) -> File:
    home = "the scikit-feature collection on GitHub (jundongl/scikit-feature, skfeature/data)"
    folder = "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data"
    return File(name, home, sha256, f"{folder}/{name}")


def _uci(name: str, number: int, title: str, sha256: str) -> File:
    home = f"the UCI Machine Learning Repository (dataset {number})"
    url = f"https://archive.ics.uci.edu/static/public/{number}/{title}.zip"
    return File(name, home, sha256, url)


def _faces(name: str, sha256: str, shape: tuple[int, int], people: str, papers: str) -> Entry:
    height, width = shape
    return Entry(
        f"{people}, grey images of {height} x {width} pixels ({papers}), as the scikit-feature "
        f"collection publishes them in {name}. A row holds an image column by column, so "
        "row.reshape(image_shape, order='F') shows it upright; grey values are 0 to 255; the "
        "target says who it is. For research use.",
        (_scikit_feature(name, sha256),),
        partial(parsers.faces, shape=shape),
        shape,
    )


_ALLAML = _scikit_feature(
    "ALLAML.mat", "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e"
)
_CLEVELAND = _uci(
    "processed.cleveland.data",
    45,
    "heart+disease",
    "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
)
_STUDENT = _uci(
    "student-mat.csv",
    320,
    "student+performance",
    "e47f9ee225e1ee6e69b7564e6dac7123e80b8486677fe111f351964cef5dec80",
)
_LUNG = File(
    "lung.rda",
    "the CRAN package sparseBC 1.2, where it is data/lung.rda",
    "fb1f4f9e0ab4ca2ef7795e7a6db85f711e1d09a60ba67e0671399a12bb5ce1ce",
)
_METABRIC = File(
    "METABRIC_RNA_Mutation.csv",
    "Kaggle (raghadalharbi/breast-cancer-gene-expression-profiles-metabric; behind a login, so "
    "it is not downloaded for you)",
    "d4802594827667a71a75b5ae5c3cad1eb4346222052fcc792361c64abc7e43bc",
)
_MNIST = tuple(
    File(
        f"train-{name}-ubyte",
        "MNIST or any of its mirrors",
        sha256,
        f"https://ossci-datasets.s3.amazonaws.com/mnist/train-{name}-ubyte.gz",
    )
    for name, sha256 in (
        ("images-idx3", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        ("labels-idx1", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    )
)
_NOISY_DIGITS = (
    "handwritten digits of 28 x 28 pixels on a background of random grey values, after "
    "mnist-back-rand (Larochelle et al., 2007): made from MNIST's training images (LeCun et al., "
    "1998) by a fixed draw with their class frequencies, a pixel being the larger of the digit's "
    "grey value and a uniform one from 0 to 255. A row holds an image column by column, so "
    "row.reshape(image_shape, order='F') shows it upright. No terms are stated."
)

#: Every table by name.
REGISTRY: dict[str, Entry] = {
    "allaml": Entry(
        "72 leukaemia samples, 47 ALL and 25 AML, with the expression of 7129 genes, already "
        "standardised (Golub et al., 1999), as the scikit-feature collection publishes it in "
        "ALLAML.mat. The file has no gene names; columns are numbered. No terms are stated.",
        (_ALLAML,),
        parsers.allaml,
    ),
    "lung500": Entry(
        "56 lung samples (17 normal, 20 carcinoid, 13 metastases of colon cancer, 6 small cell) "
        "with the expression of the 500 genes of highest variance among the 5000 in lung.rda of "
        "the CRAN package sparseBC 1.2. Columns are named by Affymetrix probe. No terms are "
        "stated.",
        (_LUNG,),
        parsers.lung500,
    ),
    "metabric": Entry(
        "1904 breast tumours with the z-scores of expression of 489 genes (METABRIC; Curtis et "
        "al., 2012), columns brca1 to ugt2b7 of METABRIC_RNA_Mutation.csv as published on Kaggle "
        "by raghadalharbi; the target is the status of the progesterone receptor (pr_status). "
        "No terms are stated.",
        (_METABRIC,),
        parsers.metabric,
    ),
    "heart_disease": Entry(
        "297 patients of the Cleveland clinic with 13 measurements as coded in "
        "processed.cleveland.data of the UCI repository (dataset 45; Detrano et al., 1989); the 6 "
        "of 303 with a missing value are left out; the target says whether any disease was found "
        "(num > 0). CC BY 4.0.",
        (_CLEVELAND,),
        parsers.heart_disease,
    ),
    "yale": _faces(
        "Yale.mat",
        "cccd29abd2c520dd5cc8ff7645b422c2bdadd59406a6b6a0239143d9d44afcf3",
        (32, 32),
        "165 faces of 15 people",
        "Yale face database; Belhumeur et al., 1997",
    ),
    "ar10p": _faces(
        "warpAR10P.mat",
        "92b5f7e72b5715ada8f2df16e6d8e5effd8e0034a53a656ed9ef76e3f727d413",
        (60, 40),
        "130 faces of 10 people",
        "AR face database; Martinez and Benavente, 1998",
    ),
    "pie10p": _faces(
        "warpPIE10P.mat",
        "0d22b0e4fe224ea7347ae266370b6eb0d724d5fd0ad7da71261a58c24e08c3c2",
        (55, 44),
        "210 faces of 10 people",
        "CMU PIE database; Sim et al., 2002",
    ),
    "nmnist": Entry(
        f"12,000 {_NOISY_DIGITS}",
        _MNIST,
        parsers.nmnist,
        parsers.DIGIT_SHAPE,
    ),
    "nmnist38": Entry(
        f"The first 500 threes and 500 eights of nmnist: {_NOISY_DIGITS}",
        _MNIST,
        parsers.nmnist38,
        parsers.DIGIT_SHAPE,
    ),
    "student": Entry(
        "395 pupils of two Portuguese schools, the first 30 columns of student-mat.csv of the UCI "
        "repository (dataset 320; Cortez and Silva, 2008), words as codes in alphabetical order; "
        "the target says whether the final grade in mathematics passes (G3 >= 10). CC BY 4.0.",
        (_STUDENT,),
        parsers.student,
    ),
}

DATASETS = tuple(REGISTRY)
