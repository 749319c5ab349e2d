"""The gRPC service of mexica-ai, installed as `mexica_ai.server`.

main.py runs a server until a signal ends it; app.py builds one; service.py translates the calls, answers.py
those that do not search; scheduler.py decides when each is worked on (admission.py: which searches get a slot;
runner.py: a search in its slot; workers.py: threads); errors.py turns the package's exceptions into
statuses; config.py defines the configuration. The server uses `mexica_ai` and never the compiled core.
"""
