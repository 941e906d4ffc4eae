import process from "node:process";
import { outcome, Scene } from "./attack.ts";

/** Prints, as JSON, the outcomes for a user other than root in a workspace with files that the user can't access. */
const [confinement] = process.argv.slice(2) as ["descriptors" | "checks"];
await using scene = await Scene.make(confinement);
scene.file("locked/file.txt", "inside");
scene.file("locked/sub/file.txt", "inside");
scene.run("chmod", "000", "locked/sub");
scene.file("unreadable.txt", "inside");
scene.run("chmod", "000", "unreadable.txt");
scene.file("readonly.txt", "inside");
scene.run("chmod", "444", "readonly.txt");
scene.file("frozen/file.txt", "inside");
scene.run("chmod", "555", "frozen");
scene.file("passage/file.txt", "inside");
scene.run("chmod", "111", "passage");

const outcomes = {
  readUnreadable: await outcome(scene.read("/unreadable.txt")),
  statUnreadable: await outcome(scene.stat("/unreadable.txt")),
  writeReadonly: await outcome(scene.write("/readonly.txt", "x")),
  readReadonly: await outcome(scene.read("/readonly.txt")),
  listLocked: await outcome(scene.list("/locked/sub")),
  readInLocked: await outcome(scene.read("/locked/sub/file.txt")),
  writeInFrozen: await outcome(scene.write("/frozen/new.txt", "x")),
  deleteInFrozen: await outcome(scene.delete("/frozen/file.txt")),
  readInFrozen: await outcome(scene.read("/frozen/file.txt")),
  readThroughPassage: await outcome(scene.read("/passage/file.txt")),
  listPassage: await outcome(scene.list("/passage")),
  glob: await outcome(scene.glob("**/file.txt")),
  grep: await outcome(scene.grep("inside")),
};
for (const path of ["locked/sub", "frozen", "passage"]) scene.run("chmod", "755", path);
process.stdout.write(JSON.stringify(outcomes));
