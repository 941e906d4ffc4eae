import process from "node:process";
import type { DriveOutcome, Placement } from "@cinch/core";
import type { FromHost, ToHost } from "./placement-process.ts";

interface Driving {
  resolve(outcome: DriveOutcome): void;
  reject(reason: Error): void;
}

/**
 * The other process of `placementConformance`: a program calls this with what makes a placement, open, from the `data` of the engine under
 * test. What its placements bring here is answered by the process of the checks.
 */
export function hostPlacements(make: (data: never) => Promise<Placement>): void {
  const placements = new Map<number, Placement>();
  const driving = new Map<number, Driving>();
  let nextDrive = 1;

  const drive = (placement: number, threadId: string): Promise<DriveOutcome> => {
    const id = nextDrive++;
    const { promise, resolve, reject } = Promise.withResolvers<DriveOutcome>();
    driving.set(id, { resolve, reject });
    send({ kind: "drive", id, placement, threadId });
    return promise;
  };

  const perform = async ({ placement: no, method, arg }: Extract<ToHost, { kind: "call" }>): Promise<void> => {
    if (method === "make") return void placements.set(no, await make(arg as never));
    const placement = placements.get(no)!;
    if (method === "serve") return placement.serve((threadId) => drive(no, threadId));
    if (method === "wake") return placement.wake(arg as string);
    return placement[method]?.();
  };

  process.on("message", (message: ToHost) => {
    if (message.kind === "call") {
      const { id } = message;
      perform(message).then(
        () => send({ kind: "answer", id }),
        (error: Error) => send({ kind: "answer", id, failure: error.message }),
      );
      return;
    }
    const waiting = driving.get(message.id);
    driving.delete(message.id);
    if (message.outcome) waiting?.resolve(message.outcome);
    else waiting?.reject(new Error(message.failure));
  });
}

const send = (message: FromHost): void => void process.send?.(message);
