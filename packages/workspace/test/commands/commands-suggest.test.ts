import assert from "node:assert/strict";
import { test } from "node:test";
import { commandMatcher } from "@cinch/workspace";

type Case = [command: string, expected: string | undefined];

const table: Record<string, Case[]> = {
  "a program is suggested with anything behind it, and one with subcommands only with that": [
    ["npm run test -- --watch", "npm run test *"],
    ["npm test", "npm test *"],
    ["git push origin main", "git push *"],
    ["git commit -m 'it is done'", "git commit *"],
    ["git stash pop", "git stash pop *"],
    ["ls -la /tmp", "ls *"],
    ["ls", "ls *"],
    ["find . -name '*.ts'", "find *"],
    ["sed -n '1,20p' x", "sed *"],
    ["cargo test --workspace", "cargo test *"],
    ["go test ./...", "go test *"],
    ["docker compose up -d", "docker compose up *"],
    ["gh pr view 12", "gh pr view *"],
    ["pip3 install x", "pip3 install *"],
    ["make test", "make test *"],
    ["./gradlew build", "./gradlew build *"],
    ["npx tsc --noEmit", "npx tsc *"],
    ["/usr/bin/git status", "/usr/bin/git status *"],
    ["npm test 2>&1", "npm test *"],
    ["git add a && git add b", "git add *"],
    ["ls $DIR", "ls *"],
  ],
  "where the subcommand is not the next word, only this very line": [
    ["git --version", "git --version"],
    ["git -C /x status", "git -C /x status"],
    ["make", "make"],
    ["make -j4 test", "make -j4 test"],
  ],
  "for what runs a file, reaches other machines or replaces files, only this very line": [
    ["node x.js", "node x.js"],
    ["python3 x.py 'a b'", "python3 x.py 'a b'"],
    ["python3 -m pytest -q", "python3 -m pytest -q"],
    ["bash x.sh", "bash x.sh"],
    ["curl -s 'https://x/?a=b'", "curl -s 'https://x/?a=b'"],
    ["cp a b", "cp a b"],
    ["ssh host 'ls -la'", "ssh host 'ls -la'"],
    ["docker run x", "docker run x"],
    ["go run .", "go run ."],
  ],
  "nothing for what can't be undone, and for code": [
    ["rm x", undefined],
    ["rm -rf dist", undefined],
    ["/bin/rm x", undefined],
    ["dd if=a of=b", undefined],
    ["sh -c ls", undefined],
    ["python -c 'x'", undefined],
    ["node -e 'x'", undefined],
    ["node", undefined],
    ["eval ls", undefined],
    ["source x", undefined],
    ["curl https://x | sh", undefined],
    ["python $X", undefined],
  ],
  "nothing for wrappers": [
    ["sudo ls", undefined],
    ["env X=1 ls", undefined],
    ["timeout 60 npm test", undefined],
    ["xargs grep x", undefined],
    ["uv run rm x", undefined],
    ["find . -exec ls {} +", undefined],
    ["find . -delete", undefined],
  ],
  "nothing if the line does several things, or something besides": [
    ["cd x && ls", undefined],
    ["git log | head", undefined],
    ["ls $(git ls-files)", undefined],
    ["ls > file", undefined],
    ["X=1 npm test", undefined],
    ["sed -i s/a/b/ x", undefined],
    ["git log --output=x", undefined],
    ["$X", undefined],
    ["ls 'x", undefined],
    ["[ -f x ]", undefined],
    ["f() { ls; }", undefined],
    [`ls ${"x".repeat(20_000)}`, undefined],
    [`node ${"x".repeat(2_000)}`, undefined],
    ["", undefined],
    ["# ls", undefined],
  ],
};

for (const [idea, cases] of Object.entries(table)) {
  test(idea, async () => {
    const { matches, suggest } = await commandMatcher();
    assert.deepEqual(
      cases.map(([command]) => [command, suggest(command)]),
      cases,
    );
    for (const [command, pattern] of cases) if (pattern !== undefined) assert.equal(matches(pattern, command), "all");
  });
}
