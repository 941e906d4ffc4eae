import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect, type SessionFace } from "@cinch/client";
import { call, say, script } from "@cinch/testkit";
import { build } from "esbuild";
import { noting } from "../../core/test/support.ts";
import { serving } from "../../server/test/serving.ts";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "cinch-page-"));
after(() => rmSync(folder, { recursive: true }));

/** The page of the example, as a page with Preact gets it. */
async function page(): Promise<(session: SessionFace) => string> {
  const outfile = join(folder, "page.mjs");
  const contents = `
    import { h } from "preact";
    import { renderToString } from "preact-render-to-string";
    import { Page } from "./page.tsx";
    export const html = (session) => renderToString(h(Page, { session }));`;
  await build({
    stdin: { contents, resolveDir: join(root, "examples/react-page") },
    bundle: true,
    format: "esm",
    platform: "node",
    jsx: "automatic",
    alias: { react: "preact/compat" },
    conditions: ["@cinch/source"],
    outfile,
  });
  return ((await import(outfile)) as { html: (session: SessionFace) => string }).html;
}

test("the page of the example shows the conversation and what waits, with Preact in the place of React", async () => {
  const { note } = noting();
  await using at = await serving({
    model: script(call("note", { what: "x" }), say("Noted <it>.")),
    tools: { note },
    harness: { permissions: [] },
  });
  const html = await page();
  const client = connect({ url: at.url });
  assert.match(html(client), /<h1>A new thread \(idle\)<\/h1>/);
  const turn = client.sendMessage({ content: "Note x" });
  while (client.getDisplayState().status !== "waiting") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.match(html(client), /<p class="user">Note x<\/p>.*note {&quot;what&quot;:&quot;x&quot;}<button>Approve/s);
  await client.respondToToolApproval({ decision: "approve" });
  await turn;
  assert.match(html(client), /<h1>Note x \(idle\)<\/h1>.*<p class="assistant">Noted &lt;it>\.<\/p>/s);
  await client.close();
});
