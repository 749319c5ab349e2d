"""Errors over HTTP: a status of gRPC as a problem in JSON (RFC 9457)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from starlette.responses import Response

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:mexica-ai:"  # before the reason, which together are the type of a problem

_BY_CODE = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
# What HTTP says more exactly than gRPC's codes do.
_BY_REASON = {"TOO_LARGE": 413, "NO_MESSAGE": 408}
_CODES = {code.value[0]: code for code in grpc.StatusCode}

Problem = dict[str, Any]


class RefusedError(Exception):
    """A request that is refused before it is a call.

    Attributes
    ----------
    status : int
        Of HTTP.
    reason : str
    """

    def __init__(self, status: int, reason: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.reason, self.headers = status, reason, headers or {}

    def response(self, request_id: str) -> Response:
        """Return the answer."""
        return response(problem(self.status, self.reason, str(self), request_id), self.headers)


def problem(status: int, reason: str, detail: str, request_id: str) -> Problem:
    """Return a problem without violations."""
    return {
        "type": TYPE_PREFIX + reason,
        "title": _title(status),
        "status": status,
        "detail": detail,
        "reason": reason,
        "requestId": request_id,
    }


def of_status(status: status_pb2.Status, request_id: str) -> Problem:
    """Return the problem that says what a status of gRPC says."""
    info, faults, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    for detail in status.details:
        for kind in (info, faults, retry):
            detail.Unpack(kind)
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    number = _BY_REASON.get(info.reason) or _BY_CODE.get(code, 500)
    found = {**problem(number, info.reason or code.name, status.message, request_id), "code": code.name}
    if faults.field_violations:
        found["violations"] = [
            {"field": fault.field, "reason": fault.reason, "description": fault.description}
            for fault in faults.field_violations
        ]
    if retry.HasField("retry_delay"):
        found["retryAfterS"] = retry.retry_delay.ToTimedelta().total_seconds()
    return found


def response(found: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as an answer."""
    more = dict(headers or {})
    if "retryAfterS" in found:
        more["Retry-After"] = str(math.ceil(found["retryAfterS"]))  # whole seconds
    if found["status"] == HTTPStatus.UNAUTHORIZED:
        more["WWW-Authenticate"] = "Bearer"
    return Response(json.dumps(found), found["status"], more, CONTENT_TYPE)


def _title(status: int) -> str:
    return "Client Closed Request" if status == 499 else HTTPStatus(status).phrase
