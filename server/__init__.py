"""The gRPC service of mexica-ai, installed as `mexica_ai.server`.

main.py runs a server until a signal ends it; app.py builds one; service.py translates the calls, answers.py
those that do not search; scheduler.py decides when each is worked on (admission.py: which searches get a slot;
runner.py: a search in its slot; workers.py: threads); errors.py turns the package's exceptions into
statuses; config.py defines the configuration. http/ answers the same calls over HTTP: door.py listens, site.py
routes, endpoints.py reads and writes a method's messages, calls.py passes the call through gRPC's interceptors to
service.py. The server uses `mexica_ai` and never the compiled core.
"""
