import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, test } from "node:test";
import { compile, declaredPackages } from "./declared-packages.ts";

describe("the types of all packages", () => {
  let folder = "";
  before(async () => {
    folder = await declaredPackages();
    copyFileSync("test/programs/types.ts", join(folder, "types.ts"));
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
        files: ["types.ts"],
      });
      assert.equal(problems, "");
    });
});
