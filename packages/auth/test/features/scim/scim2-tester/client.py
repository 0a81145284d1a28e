"""Runs scim2-tester, a compliance checker of another project, against a SCIM server.

Reads {"url", "publicUrl", "token"} from standard input, and writes the results of all checks and the requests with their
responses. Needs scim2-tester and httpx2.
"""

import json
import sys

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server


class Recorder(httpx2.BaseTransport):
    """Sends requests for the public URL to the server under test, and keeps them."""

    def __init__(self, url):
        self.url = httpx2.URL(url)
        self.inner = httpx2.HTTPTransport()
        self.exchange = []

    def handle_request(self, request):
        body = request.read()
        path = request.url.raw_path.decode()
        request.url = request.url.copy_with(scheme=self.url.scheme, host=self.url.host, port=self.url.port)
        request.headers["host"] = request.url.netloc.decode()
        response = self.inner.handle_request(request)
        answer = response.read()
        self.exchange.append(
            {
                "method": request.method,
                "path": path,
                **({"body": json.loads(body)} if body else {}),
                "status": response.status_code,
                **({"answer": json.loads(answer)} if answer else {}),
            }
        )
        return response


def main():
    given = json.load(sys.stdin)
    recorder = Recorder(given["url"])
    headers = {"authorization": f"Bearer {given['token']}"}
    with httpx2.Client(base_url=f"{given['publicUrl']}/scim/v2", headers=headers, transport=recorder) as http:
        results = check_server(SyncSCIMClient(http))
    checks = [
        {"check": result.title, "status": result.status.name, "reason": result.reason, "resource": result.resource_type}
        for result in results
    ]
    json.dump({"checks": checks, "exchange": recorder.exchange}, sys.stdout)


main()
