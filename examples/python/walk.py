"""Walks through every operation of the contract with Python's own library.

Usage: python3 walk.py ADDRESS TOKEN
"""

import json
import sys
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

ADDRESS, TOKEN = sys.argv[1:3]


def ask(method, path, body=None, query=None, content=None, **headers):
    """Sends a request and returns the answer's envelope; ends the program when the service refuses."""
    if body is not None:
        content = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    url = f"{ADDRESS}/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request(url, content, {"X-Service-Token": TOKEN, **headers}, method=method)
    try:
        with urlopen(request) as answer:
            return json.load(answer)
    except HTTPError as refusal:
        sys.exit(f"{refusal.code} {path}: {refusal.read().decode()}")


def everything(path, **query):
    """Every record of a list, page by page, and how many pages that were."""
    records, pages = [], 0
    while True:
        page = ask("GET", path, query={**query, "limit": 2, "offset": len(records)})
        records, pages = records + page["data"], pages + 1
        if not page["data"] or len(records) >= page["total"]:
            return records, pages


organization = ask("POST", "/organizations", {"name": "Acme Energy", "sectors": ["Energy"]})["organization"]
read = ask("GET", f"/organizations/{organization}")["data"]
print(f"organization {read['id']}: {read['name']}")

# People
users = f"/organizations/{organization}/users"
user = ask("POST", f"{users}/0", {"email": "grace@acme.example"})["data"]["user"]
ask("PUT", f"{users}/{user}", {"role": "security_officer"})
people = ask("GET", users)["data"]
print("users: " + ", ".join(f"{person['email']} ({person['role']})" for person in people))
ask("DELETE", f"{users}/{user}")

# Threat blockers and their traffic
blocker = {"organization": organization, "device_id": "gateway-1", "email": "soc@acme.example"}
ticket = ask("POST", "/atb", {**blocker, "type": "series", "services": []})["ticket"]
lines = [{"timestamp": "2026-03-02T09:03:10Z", "status": 403, "action": "blocked"}]
ask("POST", f"/atb/{ticket}/traffic", lines, Content_Disposition='attachment; filename="access-log.json"')
blockers = ask("GET", "/atb", query={"organization": organization, "order": "device_id"})
print(f"blockers: {blockers['total']}, malicious days: {len(blockers['data'][0]['check']['web_stat'])}")
ask("DELETE", f"/atb/{ticket}")

# Cloud defenses
print(f"cloud defenses: {ask('GET', '/cloud-defender')['total']}")

# VPN profiles
vpn = ask("POST", "/vpn", {"organization": organization, "email": "ada@acme.example"})["vpn"]
ask("DELETE", f"/vpn/{vpn}")

# Security frameworks and evidence
frameworks = f"/organizations/{organization}/security-frameworks"
framework = ask("POST", frameworks, {"title": "ISO 27001"})["security_framework"]["id"]
controls = [{"id": "A.5.1", "title": "Policies for information security"}]
ask("PUT", f"{frameworks}/{framework}", {"security_frameworks": controls})
attached = ask(
    "POST",
    f"{frameworks}/{framework}/documents/A.5.1",
    content=b"Policy, version 3",
    Content_Type="text/plain",
    Content_Disposition='attachment; filename="policy.txt"',
)
print(f"evidence: {attached['data']['file_name']}")
ask("DELETE", f"{frameworks}/{framework}")

# Assessments
for assessment in ask("GET", "/assessments", query={"limit": 10})["data"]:
    name = ask("GET", f"/assessments/{assessment['id']}")["data"]["name"]
    print(f"assessment: {name['en']}, {assessment['score']}")

# Notifications
notifications, pages = everything("/notifications", order="id")
print(f"notifications: {len(notifications)} on {pages} pages")
for notification in notifications:
    if not notification["read"]:
        ask("PUT", f"/notifications/{notification['id']}")

removed = ask("DELETE", f"/organizations/{organization}")["data"]
print(f"removed: {removed['name']}")
