import type { RemoteSession } from "@cinch/client";
import { useEffect, useState } from "preact/hooks";

/** The people at the thread, as the server says. */
export function usePresence(seat: RemoteSession): readonly string[] {
  const [people, setPeople] = useState(seat.people);
  useEffect(() => {
    const read = () => setPeople(seat.people);
    read();
    return seat.subscribe(read);
  }, [seat]);
  return people;
}
