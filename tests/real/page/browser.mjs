// SPDX-License-Identifier: Apache-2.0
// A headless Chromium without a network, driven over a pipe by the DevTools protocol.
import { spawn } from "node:child_process";

const FLAGS = [
  "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
  "--disable-extensions", "--disable-sync", "--disable-background-networking",
  "--disable-component-update", "--disable-dev-shm-usage", "--mute-audio",
  "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,900",
];

// What the browser answers and reports: messages of JSON, each ended by a NUL.
class Channel {
  constructor(to, from) {
    this.to = to;
    this.last = 0;
    this.waiting = new Map();
    this.listeners = [];
    let rest = Buffer.alloc(0);
    from.on("data", (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.take(JSON.parse(rest.subarray(0, end).toString("utf8")));
        rest = rest.subarray(end + 1);
      }
    });
  }

  take(message) {
    const one = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (one && message.error) one.reject(new Error(`${one.method}: ${message.error.message}`));
    else if (one) one.resolve(message.result);
    else this.listeners.forEach((listen) => listen(message));
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { method, resolve, reject }));
  }
}

// A tab of its own; `events` keeps what happened in it.
class Tab {
  static async open(channel) {
    const { targetId } = await channel.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await channel.send("Target.attachToTarget", { targetId, flatten: true });
    return new Tab(channel, sessionId);
  }

  constructor(channel, sessionId) {
    Object.assign(this, { channel, sessionId, events: [] });
    channel.listeners.push((message) => {
      if (message.sessionId === sessionId) this.events.push(message);
    });
  }

  send(method, params) {
    return this.channel.send(method, params, this.sessionId);
  }

  all(method) {
    return this.events.filter((one) => one.method === method).map((one) => one.params);
  }

  async until(condition) {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  // Waits until an expression is true; false when it is not within 30 s.
  async untilTrue(expression) {
    const last = Date.now() + 30000;
    while (!(await this.value(expression))) {
      if (Date.now() > last) return false;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return true;
  }

  // The value of an expression in the page.
  async value(expression) {
    const answer = await this.send("Runtime.evaluate", {
      expression, returnByValue: true, awaitPromise: true,
    });
    if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails));
    return answer.result.value;
  }

  async press(key, code = key, text = undefined) {
    const codes = { Tab: 9, Space: 32, ArrowUp: 38, ArrowDown: 40 };
    const one = { key, code, text, windowsVirtualKeyCode: codes[code] };
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...one });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...one });
  }
}

// Calls `use` with a function that opens tabs; the browser ends with it.
export async function withBrowser(program, profile, use) {
  const flags = [...FLAGS, `--user-data-dir=${profile}`];
  if (process.getuid() === 0) flags.push("--no-sandbox");
  const browser = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve, reject) => {
    browser.on("error", reject);
    browser.on("exit", resolve);
  });
  const channel = new Channel(browser.stdio[3], browser.stdio[4]);
  const dies = ended.then(() => { throw new Error("the browser ended"); });
  try {
    return await Promise.race([use(() => Tab.open(channel)), dies]);
  } finally {
    dies.catch(() => {});
    browser.kill("SIGTERM");
    await ended;
  }
}
