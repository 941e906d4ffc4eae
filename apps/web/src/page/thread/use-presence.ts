import type { RemoteSession } from "@cinch/client";
import type { HarnessEvent } from "@cinch/core";
import { useEffect, useState } from "preact/hooks";

/** The people at the thread, as the server says. */
export function usePresence(seat: RemoteSession): readonly string[] {
  const [people, setPeople] = useState<readonly string[]>([]);
  useEffect(() => {
    setPeople([]);
    return seat.subscribe((event: HarnessEvent | { type: "presence"; people: readonly string[] }) => {
      if (event.type === "presence") setPeople((event as { people: readonly string[] }).people);
    });
  }, [seat]);
  return people;
}
