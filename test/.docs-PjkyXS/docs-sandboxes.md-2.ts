import assert from "node:assert/strict";
import { commandMatcher } from "@cinch/workspace";

const { matches, suggest } = await commandMatcher();
assert.equal(matches("git push *", "git push origin main"), "all"); // an allow needs this
assert.equal(matches("npm test *", "CI=1 npm test -- --watch=false"), "all");
assert.equal(matches("git push *", "cd x && env A=1 sh -c 'git push -f'"), "some"); // enough for an ask or a deny
assert.equal(matches("git push *", "git $WHAT"), "some"); // what is unknown may match
assert.equal(matches("git push *", "unknown-tool -n 5 git push"), "some"); // an unknown program may run its words
assert.equal(matches("git log *", "git log > file"), "some"); // writing a file is more than was allowed
assert.equal(matches("git log *", "git log --outp=file"), "some"); // and so is an unknown option
assert.equal(matches("git push *", "git commit -m 'push it' && grep -rn push src"), "none");
assert.equal(suggest("npm run test -- --watch"), "npm run test *"); // what "always allow" remembers
assert.equal(suggest("unknown-tool -n 5 ls"), "unknown-tool -n 5 ls"); // for an unknown program, the exact line
assert.equal(suggest("rm -rf dist"), undefined); // nothing is remembered
