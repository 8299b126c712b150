import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
body_bytes_max = 2**21
# The ids of the events that were handled. Each connection has a thread.
handled = set()
lock = Lock()


def handle(headers, read) -> int:
    length = headers.get("content-length", "")
    if not length.isdecimal() or int(length) > body_bytes_max:
        return 413
    body = read(int(length))
    try:
        webhook.verify(body, dict(headers), json_parse=False)
    # A malformed signature or body is a ValueError.
    except (WebhookVerificationError, ValueError):
        return 401
    with lock:
        if headers["webhook-id"] in handled:
            return 204
        event = json.loads(body)
        print(event["event_type"], f"{event['resource_type']}/{event['resource_external_id']}", flush=True)
        handled.add(headers["webhook-id"])
    return 204


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        status = handle(self.headers, self.rfile.read)
        # The body was not read.
        self.close_connection = status == 413
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
