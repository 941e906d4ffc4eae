import assert from "node:assert/strict";
import { test } from "node:test";
import { restatePlacement } from "@cinch/restate";

const valid = { ingress: "http://localhost:8080", advertise: "http://workers.internal:9080" };

test("options that make no sense are INVALID_CONFIG", () => {
  const wrong: [options: unknown, message: RegExp][] = [
    [{ ...valid, ingress: "localhost" }, /needs a URL as ingress/],
    [{ ...valid, admin: "ftp://localhost" }, /needs a URL as admin/],
    [{ ingress: valid.ingress }, /needs a URL as advertise/],
    [{ ...valid, advertise: "http://0.0.0.0:9080" }, /leads Restate to itself/],
    [{ ...valid, advertise: "http://[::]:9080" }, /leads Restate to itself/],
    [{ ...valid, port: 70_000 }, /port a number from 1 to 65535/],
    [{ ...valid, identity: "a secret" }, /publickeyv1_/],
    [{ ...valid, advertize: "x" }, /advertize/],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => restatePlacement(options as never), { code: "INVALID_CONFIG", message });
  assert.ok(restatePlacement(valid));
});
