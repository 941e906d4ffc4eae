import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { imageFile, imageOf, imagePath } from "../../src/composer/attachments.ts";

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
const newFolder = (): string => mkdtempSync(join(tmpdir(), "images-"));

test("a path that a terminal pastes for an image is recognised, however it is written", () => {
  assert.equal(imagePath("/tmp/a.png"), "/tmp/a.png");
  assert.equal(imagePath(" /tmp/a.PNG\n"), "/tmp/a.PNG");
  assert.equal(imagePath("'/tmp/my picture.jpg'"), "/tmp/my picture.jpg");
  assert.equal(imagePath('"/tmp/my picture.webp"'), "/tmp/my picture.webp");
  assert.equal(imagePath("/tmp/my\\ picture.gif"), "/tmp/my picture.gif");
  assert.equal(imagePath("/tmp/my picture.gif"), "/tmp/my picture.gif");
  assert.equal(imagePath(pathToFileURL("/tmp/my picture.jpeg").href), "/tmp/my picture.jpeg");
  assert.equal(imagePath("~/shot.png"), "~/shot.png");
});

test("any other text is none", () => {
  for (const text of [
    "",
    "hello",
    "shot.png",
    "'shot.png'",
    "/tmp/a.txt",
    "please look at a.png",
    "/tmp/a.png\n/tmp/b.png",
    "file://%%%/a.png",
  ])
    assert.equal(imagePath(text), undefined, text);
});

test("an image becomes a file of the message, with the type of its contents", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "really-png.jpg"), PNG);
  assert.deepEqual(await imageFile("really-png.jpg", folder), {
    kind: "file",
    file: { mediaType: "image/png", data: PNG, filename: "really-png.jpg" },
  });
  const absolute = await imageFile(join(folder, "really-png.jpg"), "/");
  assert.equal(absolute.kind === "file" && absolute.file.filename, "really-png.jpg");
});

test("each type is known by its first bytes", () => {
  const types: [string, number[]][] = [
    ["image/jpeg", [0xff, 0xd8, 0xff, 0xe0]],
    ["image/gif", [...Buffer.from("GIF89a..")]],
    ["image/webp", [...Buffer.from("RIFF....WEBPVP8 ")]],
  ];
  for (const [mediaType, bytes] of types) {
    const data = Uint8Array.from(bytes);
    assert.deepEqual(imageOf(data), { kind: "file", file: { mediaType, data } });
  }
});

test("what can't be attached has a reason", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "folder.png"));
  writeFileSync(join(folder, "text.png"), "hello");
  writeFileSync(join(folder, "empty.png"), "");
  writeFileSync(join(folder, "large.png"), Buffer.concat([PNG, Buffer.alloc(6 * 1024 * 1024)]));
  execFileSync("mkfifo", [join(folder, "pipe.png")]);
  const reason = async (name: string) => {
    const attachment = await imageFile(name, folder);
    return attachment.kind === "refused" ? attachment.reason : "attached";
  };
  assert.equal(await reason("missing.png"), "missing.png is not attached: there is no such file.");
  assert.equal(await reason("folder.png"), "folder.png is not attached: it is no file.");
  assert.equal(await reason("pipe.png"), "pipe.png is not attached: it is no file.");
  assert.equal(await reason("text.png"), "text.png is not attached: it is no PNG, JPEG, GIF or WebP image.");
  assert.equal(await reason("empty.png"), "empty.png is not attached: it is empty.");
  assert.equal(
    await reason("large.png"),
    "large.png is not attached: it has 6.0 MB, and at most 5.0 are allowed. Make it smaller first.",
  );
  assert.deepEqual(imageOf(new Uint8Array()), {
    kind: "refused",
    reason: "The image in the clipboard is not attached: it is empty.",
  });
});
