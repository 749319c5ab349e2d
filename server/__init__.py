"""The gRPC service of mexica-ai, installed as `mexica_ai.server`.

main.py runs a server until a signal ends it; app.py builds one; service.py answers the calls; errors.py turns
the package's exceptions into statuses; config.py defines the configuration. The server uses `mexica_ai` and
never the compiled core.
"""
