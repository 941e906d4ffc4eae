import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { outcome, Scene, SECRET } from "./attack.ts";

const RACER = fileURLToPath(new URL("./racer.ts", import.meta.url));

type GoOn = (outcome: string, afterMs: number) => boolean;
type IsSeen = (outcomes: ReadonlySet<string>) => boolean;

/** Runs while another process swaps files and links repeatedly. */
async function racing(racer: string[], attempt: () => Promise<string>, goOn: GoOn): Promise<void> {
  const child = spawn(process.execPath, [RACER, ...racer], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  try {
    await once(child.stdout, "data");
    const begun = performance.now();
    while (goOn(await outcome(attempt()), performance.now() - begun));
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

/** How often code that checks first and uses afterwards must lose the race. */
const LOSSES = 5;
const GIVE_UP_MS = 60_000;

/** How long it takes, on this machine now, until code that checks first has lost the race. */
async function carelessTime(): Promise<number> {
  await using scene = await Scene.make();
  const path = scene.inside("src/a.txt");
  const checkThenRead = async () => {
    const isInside = (await realpath(path)).startsWith(`${scene.root}/`);
    // Long enough that the result does not depend on the rhythm of the two processes.
    await sleep(1);
    return isInside ? await readFile(path, "utf8") : "outside";
  };
  let [losses, ms] = [0, 0];
  const attempt = () => checkThenRead().catch((error: NodeJS.ErrnoException) => error.code ?? "failed");
  await racing(["link", path, scene.outside("secret.txt")], attempt, (came, afterMs) => {
    if (came === SECRET) losses++;
    ms = afterMs;
    return losses < LOSSES && ms < GIVE_UP_MS;
  });
  assert.equal(losses, LOSSES, `It lost ${losses} times in ${ms} ms.`);
  return ms / LOSSES;
}

let measured: Promise<number> | undefined;
const careless = (): Promise<number> => (measured ??= carelessTime());

/** All outcomes, in many times the time in which careless code would have lost the race, and until those that must be seen have been. */
async function against(racer: string[], attempt: () => Promise<string>, isSeen: IsSeen = () => true) {
  const forMs = Math.min(Math.max(30 * (await careless()), 300), 1_000);
  const outcomes = new Set<string>();
  await racing(racer, attempt, (came, afterMs) => {
    outcomes.add(came);
    return afterMs < forMs || (!isSeen(outcomes) && afterMs < GIVE_UP_MS);
  });
  return outcomes;
}

/** The valid outcomes while files are swapped. */
const MISHAPS = ["not_found", "outside", "changed", "not_a_directory", "is_a_directory", "invalid", "failed"];

const without = (outcomes: Set<string>, ...more: string[]) =>
  [...outcomes].filter((one) => !MISHAPS.includes(one) && !more.includes(one));

describe("a process that swaps files and links during an operation can't escape a directory", () => {
  test("a check before the use fails these attacks, so the tests can fail", async (t) => {
    t.diagnostic(`It lost every ${(await careless()).toFixed(1)} ms.`);
  });

  test("a file that becomes a link is read as it is inside, or not at all", async () => {
    await using scene = await Scene.make();
    const isSeen: IsSeen = (outcomes) => outcomes.has("inside") || outcomes.has("not_found");
    const racer = ["link", scene.inside("src/a.txt"), scene.outside("secret.txt")];
    const outcomes = await against(racer, () => scene.read("/src/a.txt"), isSeen);
    assert.deepEqual(without(outcomes, "inside"), []);
    assert.ok(isSeen(outcomes), [...outcomes].join());
  });

  test("a folder that becomes a link is not read through", async () => {
    await using scene = await Scene.make();
    scene.file("src/secret.txt", "inside");
    const outcomes = await against(["link", scene.inside("src"), scene.outside(".")], () =>
      scene.read("/src/secret.txt"),
    );
    assert.deepEqual(without(outcomes, "inside"), []);
  });

  test("a folder further up that becomes a link is not read through", async () => {
    await using scene = await Scene.make();
    scene.file("a/b/sub/deep.txt", "inside");
    const outcomes = await against(["link", scene.inside("a/b"), scene.outside(".")], () =>
      scene.read("/a/b/sub/deep.txt"),
    );
    assert.deepEqual(without(outcomes, "inside"), []);
  });

  test("a link that is changed to point outside is not followed", async () => {
    await using scene = await Scene.make();
    scene.link("link", "src");
    scene.file("src/secret.txt", "inside");
    const isSeen: IsSeen = (outcomes) => outcomes.has("inside") && outcomes.has("outside");
    const racer = ["target", scene.inside("link"), scene.outside(".")];
    const outcomes = await against(racer, () => scene.read("/link/secret.txt"), isSeen);
    assert.deepEqual(without(outcomes, "inside"), []);
    assert.ok(isSeen(outcomes), [...outcomes].join());
  });

  test("a folder that becomes a link is not listed through", async () => {
    await using scene = await Scene.make();
    const outcomes = await against(["link", scene.inside("src"), scene.outside(".")], () => scene.list("/src"));
    assert.deepEqual(without(outcomes, "/src/a.txt", ""), []);
  });

  test("a folder that becomes a link is not written through, and no file there is replaced", async () => {
    await using scene = await Scene.make();
    let turn = 0;
    const attempts = [
      () => scene.write("/src/secret.txt", "mine"),
      () => scene.write(`/src/new/${turn}`, "mine"),
      () => scene.write(`/src/${turn}`, "mine", null),
    ];
    const outcomes = await against(["link", scene.inside("src"), scene.outside(".")], () => attempts[turn++ % 3]!());
    assert.deepEqual(without(outcomes, "written"), []);
    scene.checkOutside();
  });

  test("a file that becomes a link is not written through", async () => {
    await using scene = await Scene.make();
    const outcomes = await against(["link", scene.inside("src/a.txt"), scene.outside("secret.txt")], () =>
      scene.write("/src/a.txt", "mine"),
    );
    assert.deepEqual(without(outcomes, "written"), []);
    scene.checkOutside();
  });

  test("a folder that becomes a link while it is deleted deletes nothing outside", async () => {
    await using scene = await Scene.make();
    const outcomes = await against(["tree", scene.inside("tree"), scene.outside(".")], () => scene.delete("/tree"));
    assert.deepEqual(without(outcomes, "deleted"), []);
    scene.checkOutside();
  });

  test("files in the target of a folder that becomes a link are not deleted", async () => {
    await using scene = await Scene.make();
    scene.file("src/secret.txt", "inside");
    const outcomes = await against(["link", scene.inside("src"), scene.outside(".")], () =>
      scene.delete("/src/secret.txt"),
    );
    assert.deepEqual(without(outcomes, "deleted"), []);
    scene.checkOutside();
  });

  test("a walk does not enter a folder that becomes a link", async () => {
    await using scene = await Scene.make();
    scene.file("src/sub/own.txt", "inside");
    const outcomes = await against(["link", scene.inside("src/sub"), scene.outside(".")], () => scene.glob("**"));
    const found = new Set([...outcomes].flatMap((one) => one.split(" ")));
    const allowed = ["", "/src/a.txt", "/src/sub/own.txt", "/src/sub.kept/own.txt"];
    assert.deepEqual(without(found, ...allowed), []);
  });

  test("a search does not show the target of a folder that becomes a link", async () => {
    await using scene = await Scene.make();
    for (let at = 0; at < 30; at++) scene.file(`src/${at}.txt`, "nothing of interest");
    scene.file("src/secret.txt", "SECRETLY inside");
    const outcomes = await against(["link", scene.inside("src"), scene.outside(".")], () => scene.grep("SECRET"));
    assert.deepEqual(
      without(outcomes, "", "/src/secret.txt:SECRETLY inside", "/src.kept/secret.txt:SECRETLY inside"),
      [],
    );
  });

  test("a search does not show the target of a file that becomes a link", async () => {
    await using scene = await Scene.make();
    scene.file("src/a.txt", "SECRETLY inside");
    const swapped = [scene.inside("src/a.txt"), scene.outside("secret.txt")];
    const outcomes = await against(["link", ...swapped], () => scene.grep("SECRET", "/src"));
    assert.deepEqual(without(outcomes, "", "/src/a.txt:SECRETLY inside", "/src/a.txt.kept:SECRETLY inside"), []);
  });

  test("a file that becomes a pipe does not hang its reader", async () => {
    await using scene = await Scene.make();
    const outcomes = await against(["pipe", scene.inside("src/a.txt"), scene.inside("pipe")], () =>
      scene.read("/src/a.txt"),
    );
    assert.deepEqual(without(outcomes, "inside"), []);
  });
});
