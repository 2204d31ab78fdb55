"""An S3 server on loopback, until stdin is closed: moto's, with one user whose signatures it checks.

Usage: s3.py FOLDER [--open] BUCKET...        (FOLDER is where scripts/fetch-servers.sh put it; --open: it checks nothing)

Prints its address and the user's keys as a line of JSON. Each line on stdin is then a list of a command and its arguments, and is
answered by a line of JSON:

    ["put", BUCKET, KEY, FILE]    writes an object
    ["get", BUCKET, KEY, FILE]    reads one into a file
    ["delete", BUCKET, KEY]       removes one
    ["list", BUCKET]              the names of all objects
    ["uploads", BUCKET]           the names of objects whose uploads are under way
"""

import json
import logging
import sys

sys.path.insert(0, sys.argv[1])

import boto3  # noqa: E402
import flask  # noqa: E402
from moto import settings  # noqa: E402
from moto.iam.access_control import S3IAMRequest  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402



def as_sent(request, decoded=S3IAMRequest._create_aws_request):
    """The request as it was sent: moto takes its path decoded, and so refuses signatures of names with spaces or slashes."""
    request._path = flask.request.environ["REQUEST_URI"]
    return decoded(request)


S3IAMRequest._create_aws_request = as_sent
logging.disable(logging.CRITICAL)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"


def client(service, key, secret):
    return boto3.client(service, endpoint_url=address, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key=secret)


is_open = sys.argv[2] == "--open"
for bucket in sys.argv[3 if is_open else 2 :]:
    client("s3", "anybody", "anybody").create_bucket(Bucket=bucket, ACL="public-read-write" if is_open else "private")
users = client("iam", "anybody", "anybody")
users.create_user(UserName="user")
everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
users.put_user_policy(UserName="user", PolicyName="everything", PolicyDocument=json.dumps(everything))
made = users.create_access_key(UserName="user")["AccessKey"]
key, secret = made["AccessKeyId"], made["SecretAccessKey"]
if not is_open:
    # From here on, every request needs a valid signature.
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
s3 = client("s3", key, secret)


def answer(command, bucket, *rest):
    if command == "put":
        name, path = rest
        with open(path, "rb") as file:
            s3.put_object(Bucket=bucket, Key=name, Body=file.read(), ACL="public-read" if is_open else "private")
        return True
    if command == "get":
        name, path = rest
        with open(path, "wb") as file:
            file.write(s3.get_object(Bucket=bucket, Key=name)["Body"].read())
        return True
    if command == "delete":
        s3.delete_object(Bucket=bucket, Key=rest[0])
        return True
    if command == "list":
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]
    return [found["Key"] for found in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]


print(json.dumps({"address": address, "key": key, "secret": secret}), flush=True)
for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
server.stop()
