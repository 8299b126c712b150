"""What OpenAPI has no word for: rules between parameters, and what depends on the time. And a fault of the tool."""

import re
from urllib.parse import unquote

import schemathesis


@schemathesis.hook.apply_to(operation_id=["getTransaction", "searchTransactions"])
def map_case(context, case):
    """A request that is meant to be right names its accounts or lifts the restriction."""
    if case.meta.generation.mode.is_positive and "account_id" not in case.query:
        case.query["override_account_id_restriction"] = "true"
    return case


# Before a call and not when a case is made: the examples of the contract are no cases that are made.
@schemathesis.hook.apply_to(operation_id="replaceFeatures")
def before_call(context, case, kwargs):
    """A request that is meant to be right names the list it replaces: without that it is 428, with any tag 412."""
    if case.meta.generation.mode.is_positive and is_odd(case.headers.get("If-Match")):
        case.headers["If-Match"] = "*"


@schemathesis.hook.apply_to(operation_id="listChanges")
def before_call(context, case, kwargs):
    """And one that goes on behind a change has a cursor that is known."""
    for place, name in (case.query, "cursor"), (case.headers, "Last-Event-ID"):
        if case.meta.generation.mode.is_positive and name in place and is_odd(place[name]):
            place[name] = "newest"


def is_odd(text):
    """About one text in two, so that the others are tried as they are; and none at all."""
    return text is None or len(text) % 2 == 1


RULES = re.compile(
    r"query parameter cursor must be one that the link next_cursor gave"
    r"|query parameters cursor and page exclude each other"
    r"|query parameter \w*states? must be one of [\w, ]+ with status_version [12]"
)


TIMES = re.compile(
    r"(query parameter|body/changes/\d+/)\s?expires_at must be in the future"
    r"|body/changes/\d+/expires_at belongs to a feature that is added"
)


def is_rule(response):
    """Whether every reason why the response is a refusal is a rule that its contract tells in words."""
    media_type = response.headers["content-type"][0].split(";")[0]
    if media_type == "application/problem+json":
        return all(RULES.fullmatch(message) for message in response.json()["message"])
    if media_type == "application/json":
        return response.json()["errorCode"] in ("TARGETING_KEY_MISSING", "INVALID_CONTEXT")
    return TIMES.fullmatch(response.text.strip()) is not None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A valid request that is refused is no failure when every reason is one of these rules."""
    return not (failure.code == "ST202" and response.status_code == 400 and is_rule(response))


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    """Schemathesis 4.32 decodes a name before it encodes it: one that reads `%16` would be sent as a control character."""
    texts = [value for value in (path_parameters or {}).values() if isinstance(value, str)]
    return all(len(CONTROL.findall(unquote(text))) == len(CONTROL.findall(text)) for text in texts)
