"""Rules that OpenAPI cannot express, between parameters and on the current time, and a workaround for a bug of Schemathesis."""

import json
import re
from collections import deque
from urllib.parse import parse_qsl, unquote, urlsplit

import schemathesis
from hypothesis import strategies

# The names of time zones are those of a database, which no schema has.
schemathesis.openapi.format(
    "time-zone",
    strategies.sampled_from(["UTC", "utc", "Europe/London", "asia/kolkata", "Pacific/Kiritimati", "Etc/GMT+5"]),
)


def valid(*operation_ids):
    """Registers what completes a valid request of these operations. The examples of the contract do not pass through it."""

    def register(complete):
        @schemathesis.hook.apply_to(operation_id=list(operation_ids))
        def map_case(context, case):
            if case.meta.generation.mode.is_positive:
                complete(case, parameters_of(case))
            return case

    return register


def valid_when_sent(*operation_ids):
    """The same for all requests of these operations (default: of all), just before they are sent."""
    hook = schemathesis.hook.apply_to(operation_id=list(operation_ids)) if operation_ids else schemathesis.hook

    def register(complete):
        @hook
        def before_call(context, case, kwargs):
            if case.meta.generation.mode.is_positive:
                complete(case, parameters_of(case))

    return register


def parameters_of(case):
    """Those in the query, which are in the body of a QUERY."""
    return case.body if (case.method, case.path) == ("QUERY", "/v1/transaction/") else case.query


def lacks(query, *names):
    return [name for name in names if is_blank(query.get(name, ""))]


@valid("getTransaction", "searchTransactions", "queryTransactions", "getTransactionReport", "listTransactionReportChanges",
       "getTransactionsSummary", "getPaymentsByState", "searchPayouts", "getPayout")
def accounts_or_override(case, query):
    """It names its accounts or overrides the restriction."""
    name = "gateway_account_id" if "/payout" in case.path else "account_id"
    if lacks(query, name):
        query.pop(name, None)
        query["override_account_id_restriction"] = True if case.method == "QUERY" else "true"


@valid("searchAgreements", "getAgreement")
def owners_or_override(case, query):
    if len(lacks(query, "service_id", "account_id")) == 2:
        query["override_account_or_service_id_restriction"] = "true"


@valid("getTransactionReport", "listTransactionReportChanges", "searchTransactions", "queryTransactions")
def each_column_once(case, query):
    for name in {"group_by", "columns"} & query.keys():
        columns = query[name]
        columns = list(dict.fromkeys(columns if isinstance(columns, list) else columns.split(",")))
        query[name] = columns if case.method == "QUERY" else ",".join(columns)


@valid("getTransactionsSummary")
def first_instant_or_override(case, query):
    if lacks(query, "from_date"):
        query["override_from_date_validation"] = "true"


@valid("getPerformanceReport", "getLegacyPerformanceReport")
def both_dates_or_none(case, query):
    if lacks(query, "from_date", "to_date"):
        for name in ("from_date", "to_date"):
            query.pop(name, None)


@valid("listGatewayPerformance")
def days_in_order(case, query):
    query["from_date"], query["to_date"] = sorted((query["from_date"], query["to_date"]))


# White space of ASCII, and the separator of lists.
BLANK = re.compile("[,\t\n\v\f\r ]*")


def is_blank(value):
    """
    True if a parameter counts as absent: it has no value, only white space of ASCII and empty items of a list, or is an object
    without members, which is sent like no value.
    """
    texts = value if isinstance(value, list) else [] if value == {} else [value]
    return BLANK.fullmatch("".join(map(str, texts))) is not None


@valid_when_sent("replaceFeatures")
def matching_etag(case, query):
    """Without If-Match the status is 428, with a random one 412."""
    if is_replaced(case.headers.get("If-Match")):
        case.headers["If-Match"] = "*"


@valid_when_sent("listChanges", "listEvents")
def known_cursor(case, query):
    for place, name in (query, "cursor"), (case.headers, "Last-Event-ID"):
        if name in place and is_replaced(place[name]):
            place[name] = "newest"


@valid_when_sent("listTickerEvents", "searchTransactions", "queryTransactions", "listTransactionEvents", "listChildTransactions",
                 "getTransactionReport", "listTransactionReportChanges", "listTransactionsByHour", "listGatewayPerformance",
                 "searchAgreements", "listAgreementEvents", "listDeadLetters", "listResourceChanges",
                 "listAccessRecords")
def cursor_of_a_page(case, query):
    """At the beginning there is none."""
    for place, name in (query, "cursor"), (case.headers, "Last-Event-ID"):
        if is_replaced(place.get(name)):
            place.pop(name, None)


# The last position that the ledger has given, if any.
GIVEN = deque(maxlen=1)


@schemathesis.hook
def after_call(context, case, response):
    GIVEN.extend(response.headers.get("ledger-position", []))


@valid_when_sent()
def known_position(case, query):
    """
    A position is that of an earlier response, and no day, since the ledger of the run has none that is over. The first
    requests have no position.
    """
    for name in {"known_at", "at_least", "since", "until"} & query.keys():
        if is_replaced(query[name]) or len(query[name]) == len("2024-10-31"):
            query.pop(name)
            if GIVEN:
                query[name] = GIVEN[0]


@valid_when_sent("listFeatures", "hasFeature", "listResources")
def past_instant_without_count(case, query):
    if not lacks(query, "as_of"):
        query["as_of"] = "1996" + query["as_of"][4:]
        query.pop("count", None)


def is_replaced(text):
    """True for a missing value and for about half of the generated ones. The others are sent as they are."""
    return text is None or len(text) % 2 == 1


RULES = re.compile(
    r"(query parameter |body/)cursor must be from a header Link"
    r"|cursor and Last-Event-ID must be the cursor of an event in the feed, or newest"
    r"|cursor and Last-Event-ID must be the cursor of a record of accesses"
    r"|query parameters cursor and page cannot be used together"
    r"|the ledger has no such position; \w+ must be (a day, or )?the position or cursor of a response of this ledger"
    r"|(known_at|since|until) must (be a day that (exists|is over); |be a position, since days in |not be before ).*"
    r"|since must not be after until"
    r"|(event \d+: )?event_details/currency must be GBP, the currency of all amounts of this ledger"
    r"|(query parameter |body/)\w*states? must be one of [\w, \"]+ with status_version [12]"
    r"|(event \d+: )?a text contains a NUL character or an unpaired surrogate"
    r"|(event \d+: )?the message (is nested more than 100 levels deep|has more than 1,000 members and elements)"
    r"|(event \d+: )?a number has more than 100 digits without an exponent"
    r"|\d+ other events are invalid"
)


LINES = re.compile(
    r"(query parameter|body/changes/\d+/)\s?expires_at must be in the future"
    r"|query parameter as_of must not be in the future"
    r"|query parameter count is not allowed with as_of"
    r"|query parameter last is not allowed with cursor"
    r"|query parameter cursor must be the next_cursor of a page of this list"
    r"|body/changes/\d+/expires_at is not allowed with remove"
    r"|body must not repeat an element; element \d+ is repeated"
)


def is_rule(response):
    """True if every message of the response is one of these rules, which the contract describes in words."""
    media_type = response.headers["content-type"][0].split(";")[0]
    if media_type == "application/problem+json":
        problem = response.json()
        return all(RULES.fullmatch(message) for message in problem.get("message", [problem["detail"]]))
    if media_type == "application/json":
        return response.json()["errorCode"] in ("TARGETING_KEY_MISSING", "INVALID_CONTEXT")
    return LINES.fullmatch(response.text.strip()) is not None


OPTIONAL = ("context", "expires_at", "targetingKey")


def has_null(value, path=""):
    """True if an optional member of a body is null, which counts as absent. The schemas do not allow null."""
    if path in ("/v1/event", "/v1/transaction/"):
        return "null" in json.dumps(value, default=str)
    if isinstance(value, dict):
        return any(value.get(name, "") is None for name in OPTIONAL) or has_null(list(value.values()))
    return isinstance(value, list) and any(map(has_null, value))


# Names of parameters, which before_load_schema reads.
BOOLEANS, LISTS = set(), set()


def is_sent_as_valid(case, response):
    """
    True if the query is valid as it is sent, although the values that it is made from are not: a blank parameter of a GET
    or a QUERY counts as absent, as the services receive an object without members, a comma divides an item of a list into two, and a
    boolean can be a number.
    """
    sent = parse_qsl(urlsplit(response.request.url).query, keep_blank_values=True)
    texts = [value for _, value in sent] if case.method == "GET" else []
    if case.method == "QUERY" and isinstance(case.body, dict):
        texts = [value for value in case.body.values() if isinstance(value, str)]
    has_blank = any(map(is_blank, texts))
    has_comma = any(name in LISTS and "," in value for name, value in sent)
    has_number = any(name in BOOLEANS and value in ("0", "1") for name, value in sent)
    return has_blank or has_comma or has_number


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """
    A rejected valid request is not a failure if these rules reject it, and an accepted invalid one is none if a member is
    null or the query is valid as it is sent.
    """
    if failure.code == "ST201":
        return not has_null(case.body, case.path) and not is_sent_as_valid(case, response)
    return not (failure.code == "ST202" and response.status_code in (400, 410) and is_rule(response))


OFFSET = re.compile(r"T[\d:.]+[+-](18:(?!00)|19|2\d)")


@schemathesis.hook
def filter_case(context, case):
    """The services reject offsets beyond 18 hours, which RFC 3339 allows."""
    return OFFSET.search(str(case.query) + str(case.body)) is None


EXCLUDED = {"NUL": r"\x00", "control characters": r"\x00-\x1f\x7f-\x9f"}
CONTROL = re.compile(f"[{EXCLUDED['control characters']}]")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """
    Schemathesis takes keywords that it does not know for rules that it can break. So `x-excluded-characters` becomes a
    pattern. What `x-rfc-3339` requires, every instant of Schemathesis has. Each operation can give the general responses.
    """
    operations = [one for path in raw_schema["paths"].values() for one in path.values()]
    for operation in operations:
        operation["responses"] = {**raw_schema["x-general-responses"], **operation["responses"]}
    parameters = [*raw_schema["components"]["parameters"].values()]
    parameters += [one for operation in operations for one in operation.get("parameters", [])]
    BOOLEANS.update(one["name"] for one in parameters if one.get("schema", {}).get("type") == "boolean")
    LISTS.update(one["name"] for one in parameters if one.get("explode") is False)
    for schema in raw_schema["components"]["schemas"].values():
        if name := schema.pop("x-excluded-characters", None):
            others = f"[^{EXCLUDED[name]}"
            pattern = schema.get("pattern", "^[^]*$").replace("[^", others)
            schema["pattern"] = pattern if pattern.startswith("^") else f"^{others}]*{pattern}{others}]*$"
        schema.get("properties", {}).get("timestamp", {}).pop("x-rfc-3339", None)


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    """Schemathesis 4.32 decodes a path parameter before it encodes it: `%16` would be sent as a control character."""
    texts = [value for value in (path_parameters or {}).values() if isinstance(value, str)]
    return all(len(CONTROL.findall(unquote(text))) == len(CONTROL.findall(text)) for text in texts)
