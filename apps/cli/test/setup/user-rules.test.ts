import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathRules, policyFor } from "@cinch/workspace";
import { userRules } from "../../src/setup/user-rules.ts";
import { UserHome } from "./user-home.ts";

test("a project outside of the user's folders gets no rules", async () => {
  await using user = new UserHome();
  assert.deepEqual(userRules(user), { rules: [], hidden: [] });
});

test("wherever the user's folders are in a project, keys can't be read and the rest can't be written", async () => {
  await using user = new UserHome();
  const odd = join(user.home, "dot[files]{a}");
  mkdirSync(join(odd, "cinch/keys"), { recursive: true });
  mkdirSync(join(user.home, ".config"));
  symlinkSync(join(odd, "cinch"), user.config);
  const cases: [root: string, config: string][] = [
    ["/", join(odd, "cinch")],
    [user.home, "/dot[files]{a}/cinch"],
    [odd, "/cinch"],
    [join(odd, "cinch"), ""],
  ];
  for (const [folder, config] of cases) {
    const { rules, hidden } = userRules({ folder, env: user.env });
    assert.deepEqual(hidden, [join(odd, "cinch/keys")]);
    const of = (operation: "read" | "write", path: string) => policyFor(pathRules(rules), operation, config + path);
    assert.deepEqual([of("read", "/keys/OPENAI_API_KEY"), of("write", "/keys/new")], ["deny", "deny"], folder);
    assert.deepEqual([of("read", "/config.json"), of("write", "/config.json")], [undefined, "deny"], folder);
  }
});
