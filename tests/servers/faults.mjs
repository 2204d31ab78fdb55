// A server whose faults are asked for by request headers (x-aimock-chaos-...), on loopback, until stdin is closed.
// Prints its address.
//
// Usage: faults.mjs FOLDER        (FOLDER is where scripts/fetch-servers.sh put it)

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const library = resolve(process.argv[2], "node_modules/@copilotkit/aimock/dist/index.js");
const { LLMock } = await import(pathToFileURL(library));

const server = new LLMock({ port: 0, logLevel: "silent" });
// What is answered depends on what is asked, and on nothing else.
server.onMessage(/[^]*/, (request) => {
  const asked = createHash("sha256").update(JSON.stringify(request.messages)).digest("hex");
  return { content: `The assistant went on with the task. It noted ${asked.slice(0, 8)}.` };
});
await server.start();
console.log(server.url);
process.stdin.resume();
process.stdin.on("end", async () => {
  await server.stop();
  process.exit(0);
});
