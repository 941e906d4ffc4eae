/** The cost of reverting a command that changed, deleted or created 5,000 files, with a store on disk and all defaults. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { built } from "../lib/built.mjs";

const FOLDERS = 100;

const COMMANDS = {
  changed: "for f in src/*/*; do echo more >> $f; done",
  deleted: "rm -r src",
  made: "for d in src/*; do mkdir $d/new; for n in $(seq 50); do echo $n > $d/new/$n; done; done",
};

export default async function rewind({ folder, now, files = 5_000 }) {
  const [core, sqlite, workspaces, testkit] = await Promise.all(
    ["core", "sqlite", "workspace", "testkit"].map((name) => built(name)),
  );
  const place = join(folder, "workspace");
  for (let at = 0; at < FOLDERS; at++) mkdirSync(join(place, "src", `part${at}`), { recursive: true });
  const fileAt = (no) => join(place, "src", `part${no % FOLDERS}`, `file${no}.ts`);
  for (let no = 0; no < files; no++) writeFileSync(fileAt(no), `export const x = ${no};\n`.repeat(100));
  const { call, say, scriptedBy } = testkit;
  let command = "";
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? say("done") : call("execute", { command, timeout_ms: 600_000 }),
  );
  const harness = new core.Harness({
    id: "bench",
    storage: sqlite.sqliteStore({ path: join(folder, "cinch.db") }),
    agent: new core.Agent({ name: "bench", model }),
    workspace: workspaces.localWorkspace({ root: place, sandbox: "none", cache: join(folder, "cache") }),
    initialState: { yolo: true },
  });
  await harness.init();
  await harness.selectOrCreateThread();
  const result = {};
  for (const [name, line] of Object.entries(COMMANDS)) {
    command = line;
    const { seq } = harness.getDisplayState();
    await harness.sendMessage({ content: name });
    const from = now();
    await harness.rewind({ toSeq: seq, files: true, dryRun: true });
    const middle = now();
    const done = await harness.rewind({ toSeq: seq, files: true });
    const taken = now() - middle;
    const wrong = done.files.filter(({ outcome }) => outcome !== "restored" && outcome !== "deleted");
    if (done.files.length < files || wrong.length > 0)
      throw new Error(`${name}: ${done.files.length} files, ${JSON.stringify(wrong[0])}`);
    result[`${name}DryMs`] = (middle - from) / done.files.length;
    result[`${name}Ms`] = taken / done.files.length;
  }
  if (readFileSync(fileAt(7), "utf8") !== "export const x = 7;\n".repeat(100))
    throw new Error("a file was not restored");
  await harness.close();
  return result;
}
