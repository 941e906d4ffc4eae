import type { ThreadRecord } from "@cinch/core";
import { useState } from "preact/hooks";
import type { PageContext } from "../page-context.ts";
import { removeDraft } from "../ui/draft.ts";

/** So long can a deletion be undone, if the page is not left before: until then, nothing is deleted. */
export const UNDO_MS = 5_000;

interface Deletion {
  /** Threads that are deleted for the user. */
  hidden: ReadonlySet<string>;
  remove: (thread: ThreadRecord) => void;
}

/** By a session of its own: the commands of one are sent one after the other, and a page that is left has no time for the next. */
async function deletedBy(client: PageContext["client"], threadId: string): Promise<void> {
  const session = await client.createSession();
  try {
    await session.deleteThread({ threadId });
  } finally {
    await session.close();
  }
}

export function useDeletion({ client, report, notify }: Pick<PageContext, "client" | "report" | "notify">): Deletion {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const remove = ({ id, title }: ThreadRecord) => {
    const show = () => setHidden((before) => new Set([...before].filter((one) => one !== id)));
    const end = () => {
      clearTimeout(timer);
      removeEventListener("pagehide", run);
    };
    const run = () => {
      end();
      deletedBy(client, id).then(
        () => removeDraft(id),
        (error: unknown) => {
          show();
          report(error);
        },
      );
    };
    const timer = setTimeout(run, UNDO_MS);
    // It was said to be deleted, so it must not be there when the user comes back.
    addEventListener("pagehide", run);
    setHidden((before) => new Set([...before, id]));
    notify(`“${title || "Untitled"}” is deleted.`, {
      label: "Undo",
      run: () => {
        end();
        show();
      },
    });
  };
  return { hidden, remove };
}
