/** A change of 50,000 lines is opened in the page, while the user types. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { built } from "../lib/built.mjs";
import { filled, observed, pageAt } from "../lib/serving/page-at.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

export default async function pageDiff({ folder, lines }) {
  const root = join(folder, "files");
  mkdirSync(root);
  const before = Array.from({ length: lines / 2 }, (_, at) => `const value${at} = ${at};`).join("\n");
  writeFileSync(join(root, "long.js"), `${before}\n`);
  const after = before.replaceAll("const ", "let ");
  const { localWorkspace } = await built("workspace");
  const page = await pageAt({
    folder,
    model: writing(`${after}\n`),
    harness: {
      workspace: localWorkspace({ root }),
      permissions: ["read", "edit"].map((category) => ({ category, policy: "allow" })),
    },
  });
  const { id } = await filled(page.harness, 2);
  const tab = await page.tab(`#/t/${id}`);
  await tab.click("text=Show changes");
  await tab.waitForSelector(".file-diff summary");
  await tab.focus("#message");
  await tab.waitForTimeout(1_000);
  const { openedMs, keyMs, rows } = await tab.evaluate(opened);
  const { longestTaskMs } = await observed(tab);
  await page.close();
  return { openedMs, keyMs, longestTaskMs, rows };
}

/** In the page: opens the diff, and types at once. */
async function opened() {
  globalThis.seen.reset();
  const box = document.querySelector("#message");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const from = performance.now();
  document.querySelector(".file-diff summary").click();
  const typed = (async () => {
    await new Promise((done) => setTimeout(done));
    document.execCommand("insertText", false, "x");
    while (box.value !== "x") await frame();
    await frame();
    return performance.now() - from;
  })();
  while (!document.querySelector(".file-diff .row")) await frame();
  await frame();
  const openedMs = performance.now() - from;
  const label = document.querySelector(".file-diff .diff").getAttribute("aria-label");
  return { openedMs, keyMs: await typed, rows: Number(/([\d]+) lines/.exec(label)[1]) };
}

/** A model that reads the file, writes it anew, and is done. */
function writing(content) {
  const calls = [
    ["read_file", { file_path: "/long.js" }],
    ["write_file", { file_path: "/long.js", content }],
  ];
  return {
    specificationVersion: "v4",
    provider: "fake",
    modelId: "fake-model",
    supportedUrls: {},
    doStream: async ({ prompt }) => {
      const call = calls[prompt.filter(({ role }) => role === "assistant").length];
      return { stream: ReadableStream.from(call ? calling(call) : saying()) };
    },
  };
}

function* calling([toolName, input]) {
  yield { type: "stream-start", warnings: [] };
  yield { type: "tool-call", toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) };
  yield { type: "finish", finishReason: { unified: "tool-calls", raw: "tool-calls" }, usage: USAGE };
}

function* saying() {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "t" };
  yield { type: "text-delta", id: "t", delta: "Done." };
  yield { type: "text-end", id: "t" };
  yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
}
