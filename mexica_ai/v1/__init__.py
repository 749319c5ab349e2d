"""Protobuf modules of package `mexica_ai.v1`, generated from `proto/mexica_ai/v1` at build time."""
