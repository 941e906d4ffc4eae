import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, test } from "node:test";
import { compile, declaredPackages } from "./declared-packages.ts";
import { entriesOf, folders, root } from "./packages.ts";

describe("the types of all packages", () => {
  let folder = "";
  before(async () => {
    folder = await declaredPackages();
    copyFileSync("test/programs/types.ts", join(folder, "types.ts"));
    const entries = folders.flatMap((name) => entriesOf(join(root, name)));
    assert.ok(entries.length >= folders.length, "every package that a program can import has an entry point");
    const lines = entries.map((entry, at) => `export * as entry${at} from "${entry}";\n`);
    writeFileSync(join(folder, "entries.ts"), lines.join(""));
  });

  for (const isExact of [false, true])
    test(`compile in strict mode, without skipLibCheck, ${isExact ? "with" : "without"} exactOptionalPropertyTypes`, async () => {
      const problems = await compile(join(folder, "types.json"), {
        compilerOptions: {
          target: "es2024",
          lib: isExact ? ["es2024", "esnext.disposable"] : ["es2024", "dom"],
          module: "nodenext",
          types: ["node"],
          typeRoots: [resolve("node_modules/@types")],
          strict: true,
          skipLibCheck: false,
          noEmit: true,
          exactOptionalPropertyTypes: isExact,
          noUncheckedIndexedAccess: isExact,
        },
        files: ["types.ts", "entries.ts"],
      });
      assert.equal(problems, "");
    });
});
