import { reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { RewoundFile } from "../events/files.ts";
import type { Undo } from "../ports/workspace.ts";
import { CallFiles } from "./call-files.ts";
import { needsDriving, stateAfter } from "./decide.ts";
import { LeaseLost, type Driver } from "./driver.ts";

/** Reverts the files of a rewind. If the process dies, the next driver repeats it: files that are reverted already stay as they are. */
export async function restoreFiles(driver: Driver, undo: Undo): Promise<void> {
  const { restoring } = driver.state.files;
  if (!restoring) return;
  const reach = { threadId: driver.journal.id, files: new CallFiles(driver), signal: driver.closing };
  const restored = await undo.restore(restoring.files, reach).catch((error: unknown) => {
    return restoring.files.map(({ path }): RewoundFile => ({ path, outcome: "failed", detail: reasonOf(error) }));
  });
  if (!driver.drives) return;
  await driver.append((state) => {
    if (state.files.restoring?.seq !== restoring.seq) return null;
    const failed = new Set(restored.filter(isNotRestored).map(({ path }) => path));
    const left = restoring.files.filter(({ path, rewound }) => rewound && failed.has(path));
    const notReverted = left.length > 0 ? { left } : {};
    const events: NewEvent[] = [{ type: "checkpoint_created", reason: "restored", restored, ...notReverted }];
    return { events, release: !needsDriving(stateAfter(state, events)) };
  });
}

/** Records the changes of commands whose calls did not end: their process died, or they did not stop in time. */
export async function settleCommands(driver: Driver, undo: Undo): Promise<void> {
  for (const [call, tree] of Object.entries(driver.state.files.trees)) {
    const files = new CallFiles(driver);
    await undo.settle(tree, { threadId: driver.journal.id, files, signal: driver.closing }).catch((error: unknown) => {
      if (error instanceof LeaseLost || !driver.drives) throw error;
      const message = `The file changes of an interrupted command can be neither recorded nor reverted: ${reasonOf(error)}`;
      driver.journal.live({ type: "info", message });
    });
    await driver.append((state) => {
      if (!Object.hasOwn(state.files.trees, call)) return null;
      const turn = state.turn ? { turnId: state.turn.turnId } : {};
      const events: NewEvent[] = [{ type: "checkpoint_created", ...turn, reason: "settled", call }];
      return { events, release: !needsDriving(stateAfter(state, events)) };
    });
  }
}

const isNotRestored = ({ outcome }: RewoundFile): boolean => outcome === "conflict" || outcome === "failed";
