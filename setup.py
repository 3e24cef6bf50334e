"""Ships conf/, which lies at the top of the repository, inside of the package."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["judgelab*"]), "judgelab.conf"],
    package_dir={"judgelab.conf": "conf"},
    package_data={
        "judgelab": [
            "py.typed",
            "dataset/samples/*.jsonl",
            "dataset/samples/*.parquet",
            "dataset/samples/*.txt",
            "*/words/*.yaml",
            "**/*.j2",
            "report/templates/*",
            "report/*.mplstyle",
        ],
        "judgelab.conf": ["**/*"],
    },
    exclude_package_data={"judgelab.conf": ["local/*", "local/**/*"]},  # the builder's own
)
