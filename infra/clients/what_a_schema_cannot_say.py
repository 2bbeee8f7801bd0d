"""Loaded by schemathesis (SCHEMATHESIS_HOOKS): its check that valid requests are accepted, by what our answers say."""

import re

import schemathesis

# Correct refusals of requests that are valid by the schema: the error code, and a part of the message.
SAID_BY_NO_SCHEMA = [
    # By the team's settings, or by an earlier request.
    ("origin_not_allowed", ""),
    ("idempotency_key_reused", ""),
    # By two fields together.
    ("idempotency_key_missing", ""),
    ("invalid_param", "^page must be left out when a cursor is given"),
    ("invalid_param", "^metadata must be given once for each name"),
    ("invalid_param", "^credentialId must be given if person is absent"),
    ("invalid_param", "^page leads past more rows than a request may visit"),
    ("invalid_param", "^wallet.name must be given for a shared wallet only"),
    ("invalid_param", "^to must be another wallet than from"),
    ("invalid_param", "^dateFrom must not be later than the last day"),
    ("invalid_param", "^Omit recurring(Token)?: the request "),
    ("invalid_param", "^dateFrom must be at most 365 days before the last day"),
    # Values that the gateway issued, such as cursors and tokens.
    ("invalid_param", "^cursor is not a nextCursor of this list"),
    ("invalid_param", "^cursor is beyond the last recorded event"),
    ("invalid_param", "^Tollgate-Min-Position is beyond the last recorded event"),
    # By the time.
    ("invalid_param", "^The day must not be in the future"),
    ("invalid_param", "^expiresAt must be in the future"),
    ("invalid_param", "^month has not begun"),
    ("invalid_param", "card.expires must not be in the past"),
    # Rules without a pattern.
    ("invalid_param", "^networks must be networks such as"),
    ("invalid_param", "^origins must be origins such as"),
    ("incorrect_currency", ""),
    ("invalid_param", "^currency must be an ISO 4217 alphabetic code"),
    ("invalid_param", "must not contain a card number"),
    ("invalid_param", "must not contain an e-mail address"),
]

REFUSALS = (400, 413, 415, 422)


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    if response.status_code not in REFUSALS or not case.meta.generation.mode.is_positive:
        return
    for error in response.json()["errors"]:
        said = any(
            error["code"] == code and re.search(message, error["message"])
            for code, message in SAID_BY_NO_SCHEMA
        )
        assert said, f"The schema allows what is refused: {error['code']}: {error['message']}"
