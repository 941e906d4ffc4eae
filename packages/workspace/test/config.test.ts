import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import {
  bwrapSandbox,
  compositeBackend,
  createWorkspace,
  directoryBackend,
  localShell,
  localWorkspace,
  memoryBackend,
  sandboxShell,
  storeBackend,
  withPolicy,
} from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";

const root = tmpdir();
const host = { shared: () => Promise.reject(new Error("none")), storeFiles: [], onThreadDeleted: () => () => {} };

const mistakes: Record<string, [() => unknown, RegExp]> = {
  "a key that is misspelt": [
    () => localWorkspace({ root, permision: [] } as never),
    /Unknown key "permision": did you mean "permissions"/,
  ],
  "no root": [() => localWorkspace({} as never), /must be the path of a folder\n {2}→ at root/],
  "a sandbox that is none": [() => localWorkspace({ root, sandbox: "docker" as never }), /must be "auto", "none" or a/],
  "a rule for nothing known": [
    () => localWorkspace({ root, permissions: [{ operations: ["run"], paths: ["/x"], mode: "deny" }] as never }),
    /operations\[0\]/,
  ],
  "a rule that could mean two things": [
    () => localWorkspace({ root, permissions: [{ operations: ["read"], paths: ["x/**"], mode: "deny" }] }),
    /must begin with "\/"/,
  ],
  "no backend": [() => createWorkspace({} as never), /must be a backend\n {2}→ at backend/],
  "a shell that is none": [() => createWorkspace({ backend: memoryBackend(), shell: {} as never }), /must be a shell/],
  "a composite without a default": [() => compositeBackend({ routes: {} } as never), /→ at default/],
  "a directory without a root": [() => directoryBackend({} as never), /→ at root/],
  "hosts that are no list": [() => sandboxShell({ root, hosts: "example.com" as never }), /→ at hosts/],
  "a sandbox around everything": [() => sandboxShell({ root: "/" }), /give it a folder/],
  "an unknown key of a store's backend": [
    () => storeBackend({ scop: "resource" } as never),
    /Unknown key "scop": did you mean "scope"/,
  ],
  "another scope": [() => storeBackend({ scope: "thread" } as never), /scope/],
  "a policy around nothing": [() => withPolicy(null as never, {}), /must be a backend/],
  "a file that is no text": [() => memoryBackend({ "/a": 5 } as never), /content of \/a/],
  "a list of files": [() => memoryBackend(["/a"] as never), /takes an object of files/],
  "no files": [() => memoryBackend(null as never), /takes an object of files/],
  "an unknown key of a sandbox": [
    () => bwrapSandbox({ bwarp: "/usr/bin/bwrap" } as never),
    /Unknown key "bwarp": did you mean "bwrap"/,
  ],
  "a sandbox without options": [() => bwrapSandbox(null as never), /takes an object with the keys bwrap/],
  "an unknown key of a shell": [() => localShell({ root, timeout: 1 } as never), /Unknown key "timeout"/],
  "a virtual shell without files": [() => virtualShell({} as never), /→ at backend/],
};

for (const [what, [make, says]] of Object.entries(mistakes)) {
  test(`${what} is refused, and the error says what is wrong and where`, () => {
    assert.throws(make, (error: { code?: string; message: string }) => {
      assert.equal(error.code, "INVALID_CONFIG");
      assert.match(error.message, says);
      return true;
    });
  });
}

for (const path of ["/nowhere/at/all", process.execPath]) {
  test(`a workspace whose root is ${path === process.execPath ? "a file" : "not there"} does not open`, async () => {
    const workspace = localWorkspace({ root: path, sandbox: "none" });
    await assert.rejects(workspace.open(host), { code: "INVALID_CONFIG", message: /is not a folder\. Create it/ });
    await workspace.close();
  });
}
