"""Whatever the OpenAPI description allows (and what it forbids), the service never fails."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .conftest import Service, wait_for

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = [
    "GET /api/service",
    "GET /api/methods",
    "GET /api/library",
    "POST /api/instances",
    "POST /api/jobs",
    "GET /api/jobs",
    "GET /api/jobs/{job}",
    "DELETE /api/jobs/{job}",
    "POST /api/jobs/{job}/cancel",
    "GET /api/jobs/{job}/events",
    "GET /api/jobs/{job}/frames",
    "POST /api/jobs/{job}/moves",
    "POST /api/jobs/{job}/trace",
    "GET /api/jobs/{job}/trace/{chooser}/{step}",
    "GET /api/jobs/{job}/schedule.{kind}",
    "GET /api/jobs/{job}/picture.{kind}",
    "GET /api/jobs/{job}/report.html",
]


@pytest.fixture(scope="module")
def strict_service(tmp_path_factory):
    """A service with tight limits: some of what is generated is a real search."""
    options = ["--max-seconds", "0.05", "--operations", "500", "--queue", "1000"]
    running = Service(tmp_path_factory.mktemp("api"), *options)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def described(strict_service):
    schema = schemathesis.openapi.from_url(f"{strict_service.address}api/openapi.json")
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.label: operation for operation in found}


@pytest.fixture(scope="module")
def finished(strict_service):
    """A real job, so that generated requests also reach what lies behind an identifier."""
    with strict_service.client() as client:
        ask = {"library": "ft06", "method": "dispatch"}
        job = client.post("/api/jobs", json=ask).json()["id"]
        wait_for(client, job)
        client.post(f"/api/jobs/{job}/trace?chooser=random&steps=10")
    return job


def test_every_operation_is_described_and_tried(described):
    assert sorted(described) == sorted(OPERATIONS)


@pytest.mark.parametrize(
    ("label", "mode"),
    [(label, GenerationMode.POSITIVE) for label in OPERATIONS]
    # Any text may be an identifier: only other input can be wrong by its form.
    + [
        (label, GenerationMode.NEGATIVE)
        for label in OPERATIONS
        if (label.startswith("POST") and "cancel" not in label)
        or "{kind}" in label
        or "{step}" in label
    ],
)
def test_generated_requests(described, finished, label, mode):
    operation = described[label]
    takes_input = operation.body or operation.query or "{" in label

    @settings(
        max_examples=(6 if "picture" in label else 20) if takes_input else 1,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case):
        given_job = (case.path_parameters or {}).get("job")
        # Two of three times the job that is there; forgetting it would spoil the rest.
        if given_job is not None and case.method != "DELETE" and len(str(given_job)) % 3:
            case.path_parameters["job"] = finished
        case.validate_response(case.call(), checks=CHECKS)

    try_it()
