"""Evaluates features of a resource as flags: flags.py URL TARGETING_KEY FLAG… prints the details of each as JSON."""

import json
import os
import sys

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

url, targeting_key, *flags = sys.argv[1:]
token = os.environ.get("TOKEN")
headers = {"Authorization": f"Bearer {token}"} if token else {}
api.set_provider_and_wait(OFREPProvider(url, headers_factory=lambda: headers))
client = api.get_client()
context = EvaluationContext(targeting_key or None)


def view(details):
    return [details.value, details.reason, details.variant, details.error_code]


results = {flag: view(client.get_boolean_details(flag, True, context)) for flag in flags}
results["as a text"] = view(client.get_string_details(flags[0], "default", context))
print(json.dumps(results))
