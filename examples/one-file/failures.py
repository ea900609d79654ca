import json
import sys

for line in sys.stdin:
    event = json.loads(line) if line.startswith("{") else {}
    reason = event.get("reason")
    if reason == "compiler-message" and event["message"]["level"] == "error":
        print(event["message"]["rendered"])
    if reason == "amdinst-test" and event["ending"] == "failed":
        print("failed:", event["id"])
        for fault in event["faults"]:
            print(f"{fault['kind']} at {fault['file']}:{fault['line']}: {fault['help'][0]}")
    if reason == "amdinst-finished":
        print("success:", event["success"])
