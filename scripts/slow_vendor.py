#!/usr/bin/env python3
"""Serves chat completions on the loopback interface as slow, hanging or limited vendors do: for scripts/bench_chat.sh.

`GET /figures` returns what was asked so far as JSON. Needs Python 3.9 or newer, nothing else.
"""

import argparse
import asyncio
import json
import time
import zlib

def summary(words):
    """A summary of so many words, as models write them: files, commands, figures and what came of them."""
    text, number = [], 0
    while len(" ".join(text).split()) < words:
        number += 1
        text.append(
            f"The agent read `src/core/module_{number}.py`, changed `handle_request_{number}` to retry {number + 2} times and ran"
            f" `pytest tests/test_{number}.py`: {number} failed, {number * 7} passed. The error was ValueError: no key 'field_{number}'"
            f" in config.yaml, line {number * 13}."
        )
    return "\n".join(text)


class Vendor:
    """What the server does with requests, and the figures of what it did."""

    def __init__(self, options):
        self.options = options
        self.requests = self.answered = self.refused = self.hung = 0
        self.prompts = set()
        self.first = self.last = None
        self.budget, self.filled = options.rate, time.monotonic()
        self.free = 0.0
        body = json.dumps({
            "choices": [{"message": {"role": "assistant", "content": summary(options.words)}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 30},
        })
        self.completion = reply(200, body)
        wish = [f"retry-after: {options.retry_after}"] if options.retry_after is not None else []
        self.refusal = reply(429, json.dumps({"error": {"message": "Rate limit reached for requests"}}), wish)

    def takes(self):
        """Whether a request is within the rate limit: a bucket of one second's requests."""
        if not self.options.rate:
            return True
        now = time.monotonic()
        self.budget = min(self.options.rate, self.budget + (now - self.filled) * self.options.rate)
        self.filled = now
        if self.budget < 1:
            return False
        self.budget -= 1
        return True

    def ask(self, body, send):
        """Answers a request, at once or later."""
        now = time.monotonic()
        self.requests += 1
        self.first = self.first or now
        prompt = zlib.crc32(body)
        self.prompts.add(prompt)
        if not self.takes():
            self.refused += 1
            send(self.refusal)
            return
        # The same prompts hang in every run.
        hangs = prompt % 10_000 < self.options.hang * 10_000
        self.hung += hangs
        delay = self.options.hang_seconds if hangs else self.options.latency
        if self.options.capacity and not hangs:
            # Answers leave one after another.
            self.free = max(now + delay, self.free + 1 / self.options.capacity)
            delay = self.free - now

        def answer():
            self.answered += 1
            if not hangs:
                self.last = time.monotonic()
            send(self.completion)

        asyncio.get_running_loop().call_later(delay, answer)

    def figures(self):
        """The figures so far; `seconds` is from the first request to the last answer that did not hang."""
        seconds = (self.last or 0) - (self.first or 0)
        return reply(200, json.dumps({
            "requests": self.requests, "answered": self.answered, "refused": self.refused, "hung": self.hung,
            "prompts": len(self.prompts), "seconds": seconds,
        }))


def reply(status, body, headers=()):
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {status} -", "content-type: application/json", f"content-length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Connection(asyncio.Protocol):
    """One connection: requests one after another, each with a content-length or without a body."""

    def __init__(self, vendor):
        self.vendor = vendor
        self.data = bytearray()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.data[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            whole = end + 4 + length
            if len(self.data) < whole:
                return
            body = bytes(self.data[end + 4:whole])
            del self.data[:whole]
            if head.startswith(b"get "):
                self.transport.write(self.vendor.figures())
            else:
                self.vendor.ask(body, self.send)

    def send(self, data):
        if not self.transport.is_closing():
            self.transport.write(data)


async def serve(options):
    """Prints the address, and serves until it is killed."""
    vendor = Vendor(options)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(vendor), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds until an answer (0.2)")
    parser.add_argument("--words", type=int, default=300, help="words of an answer (300)")
    parser.add_argument("--hang", type=float, default=0.0, help="part of the prompts that hang (0 to 1)")
    parser.add_argument("--hang-seconds", type=float, default=30.0, help="seconds until those are answered (30)")
    parser.add_argument("--capacity", type=float, default=0.0, help="answers a second; others queue (no limit)")
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; more are refused with 429 (no limit)")
    parser.add_argument("--retry-after", help="what refusals say in Retry-After (nothing)")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
