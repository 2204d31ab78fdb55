#!/usr/bin/env python3
"""A summarizer for `trajfit compress --summarizer command`: asks any server that knows chat completions.

    trajfit compress runs.jsonl -o out.jsonl --summarizer command \\
        --command 'python3 docs/command_example.py --base-url http://localhost:8000/v1 --model qwen3-32b'

It is a place to start from: the model may be called in any other way. The protocol is in docs/command.md.
"""

import argparse
import json
import os
import sys
import urllib.request


def ask(options, request):
    """What the model says to the prompt that trajfit would send itself."""
    body = {
        "model": options.model,
        "messages": [
            {"role": "system", "content": request["prompt"]["system"]},
            {"role": "user", "content": request["prompt"]["user"]},
        ],
    }
    headers = {"content-type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["authorization"] = f"Bearer {key}"
    call = urllib.request.Request(options.base_url + "/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(call) as response:
        return json.load(response)


def answer(options, request):
    # A record can be left as it is …
    if any("DO NOT SUMMARIZE" in turn["text"] for turn in request["turns"]):
        return {"status": 1, "reason": "marked by hand"}
    # … and this program may fail at one: the error is told, and the next record is asked for all the same.
    try:
        reply = ask(options, request)
        text = reply["choices"][0]["message"]["content"]
    except (OSError, ValueError, LookupError) as error:
        return {"status": 3, "reason": f"{type(error).__name__}: {error}"}
    return {"summary": text, "usage": reply.get("usage")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    for line in sys.stdin:
        request = json.loads(line)
        # One line, and at once: trajfit waits for it.
        print(json.dumps({"id": request["id"], **answer(options, request)}), flush=True)


if __name__ == "__main__":
    main()
