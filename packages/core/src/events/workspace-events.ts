import * as z from "zod/mini";
import { command, driver, given, live, type Lift } from "./event-entry.ts";
import { changeFields, FileRestore, RewoundFile } from "./files.ts";

/** In version 1 of `checkpoint_created`, the field `untracked` is named `untold`. */
const untoldToUntracked: Lift = ({ untold, ...event }) =>
  untold === undefined ? event : { ...event, untracked: untold };

/** The part of the event map that is about files and the workspace. */
export const workspaceEvents = {
  /** A driver's append carries its epoch, but the event needs none: the children of a tree share the files of its top-level thread. */
  file_changed: command(() => ({ ...changeFields(), call: z.optional(z.string()) })),
  /**
   * A state of the files to which a rewind can revert. `change`: the first change of the turn follows. `command`: a command is about to
   * run; `tree` is the snapshot before it, or `untracked` says why its changes are not recorded. `settled`: the changes of a command
   * whose call did not end are recorded. `restore`: these files have to be reverted, and those in `left` can't be. `restored`: they are.
   */
  checkpoint_created: driver(
    () => ({
      /** Of `restore`. */
      ...given,
      reason: z.enum(["change", "command", "settled", "restore", "restored"]),
      call: z.optional(z.string()),
      tree: z.optional(z.string()),
      untracked: z.optional(z.string()),
      left: z.optional(z.array(FileRestore)),
      restore: z.optional(z.array(FileRestore)),
      restored: z.optional(z.array(RewoundFile)),
    }),
    [untoldToUntracked],
  ),
  workspace_status_changed: live(() => ({ status: z.enum(["opening", "ready", "failed", "closed"]) })),
  workspace_ready: live(() => ({ protection: z.string(), description: z.string() })),
  workspace_error: live(() => ({ message: z.string() })),
};
