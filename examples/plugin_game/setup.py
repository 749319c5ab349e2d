"""Builds the compiled rules with the flags of mexica-ai."""

from setuptools import setup

from cext.build import game_extensions

setup(ext_modules=game_extensions(["mexica_ai_shutbox.ops"], compile_args=["-O1"]))  # quickly built; -O3 is faster
