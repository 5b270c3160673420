// SPDX-License-Identifier: Apache-2.0
// A small OpenAI-compatible inference server: real tokens of a real engine, one request at a time.
//   server.mjs --model FILE [--threads N] [--context TOKENS]      FILE relative to this one
// Listens on a free loopback port, which $HOME/endpoint.url names once it answers. SIGTERM ends it.
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { getLlama } from "node-llama-cpp";

const LARGEST_BODY = 1 << 20;

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    threads: { type: "string", default: "1" },
    context: { type: "string", default: "1024" },
  },
});

async function openSequence() {
  const llama = await getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    maxThreads: Number(options.threads),
    logLevel: "error",
  });
  const model = await llama.loadModel({ modelPath: fileURLToPath(new URL(options.model, import.meta.url)) });
  const context = await model.createContext({
    contextSize: Number(options.context),
    threads: Number(options.threads),
  });
  return { model, sequence: context.getSequence() };
}

class BadRequest extends Error {}

async function readRequest(incoming) {
  let body = "";
  for await (const part of incoming) {
    body += part;
    if (body.length > LARGEST_BODY) throw new BadRequest("the body is too long");
  }
  try {
    const request = JSON.parse(body);
    const prompt = request.messages.map(({ role, content }) => `${role}: ${content}\n`).join("");
    const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? 64;
    return { prompt, maxTokens, withUsage: request.stream_options?.include_usage === true };
  } catch {
    throw new BadRequest("not a chat completion request");
  }
}

// Yields the text of each generated token; returns why it stopped.
async function* generate({ model, sequence }, promptTokens, maxTokens) {
  await sequence.clearHistory();
  let count = 0;
  for await (const token of sequence.evaluate(promptTokens, { yieldEogToken: true })) {
    if (model.isEogToken(token)) return "stop";
    yield model.detokenize([token]);
    count += 1;
    if (count >= maxTokens) break;
  }
  return "length";
}

function frameWriter(response) {
  const head = {
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model: "tiny",
  };
  return (fields) => response.write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
}

async function complete(engine, request, response) {
  const promptTokens = engine.model.tokenize(request.prompt);
  const write = frameWriter(response);
  const writeDelta = (delta, finish_reason = null) =>
    write({ choices: [{ index: 0, delta, finish_reason }] });

  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  writeDelta({ role: "assistant", content: "" });
  let completionTokens = 0;
  const tokens = generate(engine, promptTokens, request.maxTokens);
  let next = await tokens.next();
  for (; !next.done && !response.destroyed; next = await tokens.next()) {
    completionTokens += 1;
    writeDelta({ content: next.value });
  }
  await tokens.return();
  if (response.destroyed) return;
  writeDelta({}, next.value);
  if (request.withUsage) {
    const usage = {
      prompt_tokens: promptTokens.length,
      completion_tokens: completionTokens,
      total_tokens: promptTokens.length + completionTokens,
    };
    write({ choices: [], usage });
  }
  response.end("data: [DONE]\n\n");
}

function answer(response, status, value) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

const engine = await openSequence();
let last = Promise.resolve(); // the engine has one sequence: requests wait for each other

function inTurn(work) {
  last = last.then(work, work);
  return last;
}

async function serve(incoming, response) {
  const route = `${incoming.method} ${incoming.url}`;
  if (route === "GET /v1/models") {
    answer(response, 200, { object: "list", data: [{ id: "tiny", object: "model" }] });
  } else if (route === "POST /v1/chat/completions") {
    const request = await readRequest(incoming);
    await inTurn(() => complete(engine, request, response));
  } else {
    answer(response, 404, { error: { message: `no ${route} here` } });
  }
}

const server = createServer((incoming, response) => {
  serve(incoming, response).catch((error) => {
    if (response.headersSent) response.destroy();
    else answer(response, error instanceof BadRequest ? 400 : 500, { error: { message: error.message } });
  });
});

process.once("SIGTERM", () => process.exit(0));
server.listen(0, "127.0.0.1", async () => {
  const announced = join(process.env.HOME, "endpoint.url");
  await writeFile(`${announced}.tmp`, `http://127.0.0.1:${server.address().port}/v1\n`);
  await rename(`${announced}.tmp`, announced);
});
