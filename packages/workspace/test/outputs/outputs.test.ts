import assert from "node:assert/strict";
import { createHash, type Hash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { localWorkspace, type LocalWorkspaceOptions, type PathRule } from "@cinch/workspace";
import { OUTPUT_PATH, Outputs } from "../../src/outputs/outputs.ts";
import { commandDesk, type CommandDesk } from "../tools/execute/command-desk.ts";
import { smallDisk } from "./small-disk.ts";
import { folder, program } from "../shells/shell-support.ts";

const LONG = "seq 1 40000";
const LONG_TEXT = Array.from({ length: 40_000 }, (_, n) => `${n + 1}\n`).join("");

/** A workspace beside its outputs. */
class Scene implements AsyncDisposable {
  readonly #place = folder();
  readonly root = join(this.#place.path, "root");
  readonly cache = join(this.#place.path, "cache");
  readonly outputs = join(this.cache, "output");
  desk!: CommandDesk;

  async open(options: Partial<LocalWorkspaceOptions> = {}): Promise<this> {
    mkdirSync(this.root, { recursive: true });
    this.desk = await commandDesk(localWorkspace({ root: this.root, sandbox: "none", cache: this.cache, ...options }));
    return this;
  }

  /** Where the whole output of a long command is. */
  async long(): Promise<string> {
    const { text, details } = await this.desk.ok("execute", { command: LONG });
    assert.match(
      text,
      /the whole output, 228894 bytes, is in \/\.cinch\/output\/[0-9a-f]{32}\.txt: call read_file .*grep/,
    );
    return String(details["output"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.desk.harness.close();
    this.#place[Symbol.dispose]();
  }
}

const scene = (options?: Partial<LocalWorkspaceOptions>): Promise<Scene> => new Scene().open(options);

describe("the whole output of a command", () => {
  let at: Scene;
  let path: string;
  before(async () => {
    at = await scene();
    path = await at.long();
  });
  after(() => at[Symbol.asyncDispose]());

  test("can be paged through with read_file, to the last byte", async () => {
    let [all, offset] = ["", 0];
    for (;;) {
      const { text } = await at.desk.ok("read_file", { file_path: path, offset });
      const [head = "", ...lines] = text.split("\n");
      all += lines.map((line) => `${line.split("\t")[1]}\n`).join("");
      const next = /offset (\d+)$/.exec(head)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    assert.equal(sha(all), sha(LONG_TEXT));
  });

  test("can be downloaded by the program", async () => {
    const { [path]: bytes } = await at.desk.workspace.download([path]);
    assert.equal(sha(bytes!), sha(LONG_TEXT));
  });

  test("can be searched where it is", async () => {
    const grep = { path, pattern: "^3999.$", regex: true, output_mode: "content" };
    assert.match((await at.desk.ok("grep", grep)).text, /^10 lines in 1 file\n.*:39990:39990\n/);
    assert.match((await at.desk.ok("grep", { path, pattern: "39999" })).text, /^1 line in 1 file/);
    assert.match(await at.desk.fails("glob", { path, pattern: "*" }), /is a file, not a directory/);
  });

  test("is not mentioned anywhere else", async () => {
    const name = path.slice(OUTPUT_PATH.length + 1);
    const calls: [string, Record<string, unknown>][] = [
      ["ls", { path: "/" }],
      ["glob", { pattern: "**/*" }],
      ["glob", { pattern: ".cinch/output/*" }],
      ["grep", { pattern: "39999" }],
      ["ls", { path: OUTPUT_PATH }],
      ["ls", { path: "/.cinch" }],
      ["glob", { pattern: "*", path: OUTPUT_PATH }],
      ["grep", { pattern: "39999", path: OUTPUT_PATH }],
    ];
    for (const { text } of await at.desk.calls(at.desk.harness, ...calls)) {
      assert.ok(!text.includes(name), text);
      assert.doesNotMatch(text, /39999\b.*:/);
    }
  });

  test("can be neither written nor deleted", async () => {
    await at.desk.ok("read_file", { file_path: path });
    assert.match(await at.desk.fails("write_file", { file_path: path, content: "x" }), /can only be read/);
    assert.match(
      await at.desk.fails("edit_file", { file_path: path, old_string: "39999", new_string: "x" }),
      /can only be read/,
    );
    assert.match(await at.desk.fails("delete", { file_path: path }), /can only be read/);
    assert.match(
      await at.desk.fails("write_file", { file_path: `${OUTPUT_PATH}/new.txt`, content: "x" }),
      /only be read/,
    );
    await at.desk.call("delete", { file_path: OUTPUT_PATH });
    await at.desk.call("delete", { file_path: "/.cinch" });
    assert.equal((await at.desk.workspace.download([path]))[path]!.length, LONG_TEXT.length);
  });

  test("can't be used to escape", async () => {
    const name = path.slice(OUTPUT_PATH.length + 1);
    writeFileSync(join(at.outputs, "..", "secret.txt"), "SECRET");
    symlinkSync(join(at.outputs, "..", "secret.txt"), join(at.outputs, `${"a".repeat(32)}.txt`));
    writeFileSync(join(at.outputs, "private.txt"), "SECRET");
    for (const file_path of [
      `${OUTPUT_PATH}/private.txt`,
      `${OUTPUT_PATH}/../../etc/passwd`,
      `${OUTPUT_PATH}/../../../etc/passwd`,
      `${OUTPUT_PATH}/..%2f..%2fetc%2fpasswd`,
      `${OUTPUT_PATH}/secret.txt`,
      `${OUTPUT_PATH}/${"a".repeat(32)}.txt`,
      `${OUTPUT_PATH}/${name}/x`,
      `${OUTPUT_PATH}/${name.toUpperCase()}`,
      `${OUTPUT_PATH}/${name}\u0000`,
    ]) {
      const text = await at.desk.fails("read_file", { file_path });
      assert.doesNotMatch(text, /root:|SECRET/, file_path);
    }
  });

  test("is bound by path rules like any file", async () => {
    const permissions: PathRule[] = [{ operations: ["read"], paths: ["/**"], mode: "deny" }];
    await using other = await scene({ permissions });
    const hidden = await other.long();
    await other.desk.fails("read_file", { file_path: hidden });
    await other.desk.fails("grep", { path: hidden, pattern: "1" });
    await assert.rejects(other.desk.workspace.download([hidden]), /deny it to be read/);
  });

  test("is still there for the next process, under the same name", async () => {
    await at.desk.harness.close();
    await at.open();
    assert.match((await at.desk.ok("read_file", { file_path: path })).text, /^lines 1-2000 of 40000/);
  });
});

describe("the folder of outputs", () => {
  test("is created when it is needed, for this user only", async () => {
    await using at = await scene();
    await at.desk.ok("execute", { command: "echo short" });
    assert.equal(existsSync(at.outputs), false);
    await at.long();
    assert.equal(statSync(at.outputs).mode & 0o777, 0o700);
  });

  test("loses what is older than a week when a workspace is opened, and nothing else", async () => {
    await using at = await scene();
    const old = await at.long();
    const fresh = await at.long();
    const age = Date.now() / 1000 - 8 * 24 * 60 * 60;
    const file = (path: string) => join(at.outputs, path.slice(OUTPUT_PATH.length + 1));
    writeFileSync(join(at.outputs, "not ours"), "");
    for (const name of [file(old), join(at.outputs, "not ours")]) utimesSync(name, age, age);
    await at.desk.harness.close();
    await at.open();
    assert.deepEqual(
      readdirSync(at.outputs).toSorted(),
      [file(fresh).slice(at.outputs.length + 1), "not ours"].toSorted(),
    );
  });

  const refusals: Record<string, (outputs: string) => void> = {
    "that is a link": (outputs) => {
      mkdirSync(`${outputs}-real`);
      symlinkSync(`${outputs}-real`, outputs);
    },
    "in which others may write": (outputs) => {
      mkdirSync(outputs);
      chmodSync(outputs, 0o777);
    },
    "that is a file": (outputs) => writeFileSync(outputs, ""),
  };
  for (const [what, prepare] of Object.entries(refusals)) {
    test(`${what} is not used, and the command still runs`, async () => {
      await using at = await scene();
      mkdirSync(at.cache, { recursive: true });
      prepare(at.outputs);
      const { text } = await at.desk.ok("execute", { command: LONG });
      assert.match(text, /^Exit code 0 .*could not be saved: .*39999\n40000\n$/s);
      if (lstatSync(at.outputs).isSymbolicLink()) assert.deepEqual(readdirSync(`${at.outputs}-real`), []);
      const id = await at.desk.start("echo hello; cat");
      assert.match(await at.desk.printed(id, "hello\n"), /could not be saved/);
    });
  }

  test("of another user is not used", { skip: process.getuid?.() === 0 ? false : "needs root" }, async () => {
    using place = folder();
    const { chownSync } = await import("node:fs");
    chownSync(place.path, 12_345, 12_345);
    await assert.rejects(new Outputs(place.path).newFile().open(), /is not a folder that only this user can change/);
  });

  test("inside the workspace is hidden from its tools", async () => {
    await using at = await scene();
    await at.desk.harness.close();
    await at.open({ cache: at.root });
    const path = await at.long();
    const name = path.slice(OUTPUT_PATH.length + 1);
    await at.desk.fails("read_file", { file_path: `/output/${name}` });
    await at.desk.fails("write_file", { file_path: "/output/x.txt", content: "x" });
    await at.desk.fails("delete", { file_path: "/output" });
    assert.doesNotMatch((await at.desk.ok("ls", {})).text, /output/);
    await at.desk.ok("read_file", { file_path: path });
  });

  test("may be full: the command completes, and the result says what is missing", async (t) => {
    using disk = smallDisk();
    if (!disk) return t.skip("no small disk can be mounted here");
    await using at = await scene({ cache: join(disk.path, "cache") });
    const { text } = await at.desk.ok("execute", { command: "seq 1 1000000; touch ended" });
    assert.match(text, /^Exit code 0 .*could not be saved: ENOSPC.*1000000\n$/s);
    assert.ok(existsSync(join(at.root, "ended")));
    const id = await at.desk.start("seq 1 1000000; read x; echo got $x");
    assert.match(await at.desk.printed(id, "1000000\n"), /could not be saved: ENOSPC/);
    await at.desk.ok("execute_input", { id, text: "word\n" });
    await at.desk.printed(id, "got word\n");
  });
});

for (const background of ["foreground", "background"]) {
  test(`100 MB of output in the ${background} take no memory, and none of it is lost`, async () => {
    using root = folder();
    using outputs = folder();
    await using flood = await program("outputs/output-flood.ts", [background, root.path, outputs.path], []);
    const { grown, hash, bytes } = JSON.parse(flood.line) as { grown: number; hash: string; bytes: number };
    assert.equal(bytes, 104_857_600);
    assert.ok(grown < 32 * 1024 * 1024, `RSS grew by ${grown}`);
    const expected: Hash = createHash("sha256");
    const line = Buffer.from("0123456789\n".repeat(1_000));
    for (let left = bytes; left > 0; left -= line.length)
      expected.update(line.subarray(0, Math.min(left, line.length)));
    assert.equal(hash, expected.digest("hex"));
  });
}

const sha = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");
