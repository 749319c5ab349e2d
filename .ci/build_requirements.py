"""Prints what the build needs, as pyproject.toml says, for pip."""

import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], sep="\n")
