// SPDX-License-Identifier: Apache-2.0
// Opens a report.html as a reader does and prints, as JSON, what came of it:
//   node look.mjs CHROMIUM PROFILE REPORT.html
// With scripts: what is there, messages, requests, time of the main thread, and what keys reach and
// change. Without: what is there.
import { pathToFileURL } from "node:url";
import { withBrowser } from "./browser.mjs";

const LIMIT_MS = 180000;
const MOST_TABS = 200;

const CONTENT = `({
  tables: document.querySelectorAll("table").length,
  drawings: [...document.querySelectorAll("svg")].filter((one) => one.checkVisibility()).length,
  charts: document.querySelectorAll("figure.chart").length,
  drawn: document.querySelectorAll("figure.chart.live canvas").length / 2,
  images: document.images.length,
  text: document.body.innerText,
  heads: [...document.querySelectorAll("th[scope=row]")].map((one) => one.textContent),
  wider: document.documentElement.scrollWidth > innerWidth,
})`;

const FRAME = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))";

async function load(tab, url, scripts) {
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
  await tab.send("Performance.enable", { timeDomain: "threadTicks" });
  await tab.send("Network.emulateNetworkConditions", {
    offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1,
  });
  await tab.send("Emulation.setScriptExecutionDisabled", { value: !scripts });
  await tab.send("Page.navigate", { url });
  await tab.until(() => tab.all("Page.loadEventFired").length > 0);
}

// Everything that a page without a fault does not do, and its requests.
function troubles(tab) {
  return {
    console: tab.all("Runtime.consoleAPICalled").map((one) => one.args),
    exceptions: tab.all("Runtime.exceptionThrown").map((one) => one.exceptionDetails.text),
    log: tab.all("Log.entryAdded").map((one) => one.entry.text),
    dialogs: tab.all("Page.javascriptDialogOpening").map((one) => one.message),
    requests: tab.all("Network.requestWillBeSent").map((one) => one.request.url),
  };
}

// Processor time of the page's main thread so far, milliseconds.
async function spent(tab) {
  await tab.value(FRAME);
  const { metrics } = await tab.send("Performance.getMetrics");
  return 1000 * metrics.find((one) => one.name === "TaskDuration").value;
}

// Looks at every timeline, until one does not become a chart.
async function scrollThrough(tab) {
  const count = await tab.value('document.querySelectorAll("figure.chart").length');
  for (let i = 0; i < count; i++) {
    const figure = `document.querySelectorAll("figure.chart")[${i}]`;
    await tab.value(`${figure}.scrollIntoView()`);
    if (!(await tab.untilTrue(`${figure}.matches(".live")`))) return;
  }
}

// ---- keys

const FOCUSED = `(() => {
  const one = document.activeElement;
  return one === document.body ? "" : one.localName + " " + (one.closest("label") || one).textContent;
})()`;
const CHART = 'document.querySelector(".plot canvas").toDataURL()';

// Tab, from where the focus is, until it is as wanted; the number of presses, or null.
async function reach(tab, wanted) {
  for (let count = 1; count <= MOST_TABS; count++) {
    await tab.press("Tab");
    if (wanted.test(await tab.value(FOCUSED))) return count;
  }
  return null;
}

// Does the first chart look otherwise once a key was pressed, and as before once another was?
async function changes(tab, there, back) {
  if (!(await tab.untilTrue('document.querySelector(".plot canvas") !== null'))) return {};
  const before = await tab.value(CHART);
  await tab.press(...there);
  const between = await tab.value(CHART);
  await tab.press(...back);
  return { changed: between !== before, restored: (await tab.value(CHART)) === before };
}

async function keyboard(tab) {
  const space = [" ", "Space", " "];
  const folded = { presses: await reach(tab, /^summary/) };
  if (folded.presses) {
    const open = "document.activeElement.parentElement.open";
    const before = await tab.value(open);
    await tab.press(...space);
    folded.changed = before !== (await tab.value(open));
  }
  const run = { presses: await reach(tab, /^input +slot \d+/) };
  if (run.presses) Object.assign(run, await changes(tab, space, space));
  const range = { presses: await reach(tab, /^select/) };
  if (range.presses) Object.assign(range, await changes(tab, ["ArrowDown"], ["ArrowUp"]));
  return { folded, run, range };
}

// ---- the whole

async function look(open, url) {
  const tab = await open();
  await load(tab, url, true);
  const load_ms = await spent(tab);
  const keys = await keyboard(tab);
  const before_ms = await spent(tab);
  await scrollThrough(tab);
  const charts_ms = await spent(tab) - before_ms;
  const on = { load_ms, charts_ms, keys, ...(await tab.value(CONTENT)), ...troubles(tab) };
  const other = await open();
  await load(other, url, false);
  return { on, off: { ...(await other.value(CONTENT)), ...troubles(other) } };
}

const [program, profile, file] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const late = setTimeout(() => {
  console.error(`not done in ${LIMIT_MS / 1000} s`);
  process.exit(1);
}, LIMIT_MS);
const facts = await withBrowser(program, profile, (open) => look(open, url));
clearTimeout(late);
console.log(JSON.stringify({ url, ...facts }));
