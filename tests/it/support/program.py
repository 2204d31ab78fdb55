"""A summarizing program for the tests: what it does with a request depends on words in it.

    python3 program.py [--log FILE] [--pid FILE] [--slow SECONDS] [--die-at-start]

--log FILE   appends the id of every request, a line each
--pid FILE   writes the number of its process
"""

import hashlib
import json
import os
import sys
import time

arguments = sys.argv[1:]


def option(name):
    return arguments[arguments.index(name) + 1] if name in arguments else None


def log(text):
    if path := option("--log"):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, (text + "\n").encode())
        os.close(file)


def seen(identifier):
    with open(option("--log")) as file:
        return file.read().split().count(identifier)


def answer(request):
    prompt = request["prompt"]["user"]
    has = lambda word: any(word in turn["text"] for turn in request["turns"])
    digest = hashlib.sha256(prompt.encode()).hexdigest()[:16]
    reply = {"id": request["id"], "summary": f"The agent did what was asked ({digest}).",
             "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    if has("DIE") or (has("ONCE") and seen(request["id"]) < 2):
        sys.exit(3)
    if has("HANG"):
        time.sleep(600)
    if has("GARBAGE"):
        return "Sure! Here is the summary you asked for."
    if has("OTHER-ID"):
        reply["id"] = "0000"
    if has("TWO-LINES"):
        return json.dumps(reply) + "\nand some more"
    if has("FAIL"):
        return json.dumps({"status": 7, "reason": "no such luck"})
    if has("VETO"):
        return json.dumps({"id": request["id"], "status": 1, "reason": "the middle matters\nin this one"})
    if has("WHOLE"):
        words = 400 if has("WHOLE-LONG") else 150
        lines = "".join(f"Line {number} as it is.\n" for number in range(words // 6))
        return json.dumps({"status": 2, "summary": "  " + lines})
    if has("CHATTY"):
        reply["summary"] = "One step after the other was done here.\n" * (60 if request["max_tokens"] > 60 else 2)
    return json.dumps(reply)


if path := option("--pid"):
    with open(path, "w") as file:
        file.write(str(os.getpid()))
if "--die-at-start" in arguments:
    print("this program cannot work", file=sys.stderr)
    sys.exit(5)
for line in sys.stdin:
    request = json.loads(line)
    log(request["id"])
    time.sleep(float(option("--slow") or 0))
    print(answer(request), flush=True)
log("end")
