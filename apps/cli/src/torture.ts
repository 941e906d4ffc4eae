import { availableParallelism } from "node:os";
import { crashPoints, removeLeftovers, tortureAll } from "@cinch/testkit";
import { ExitCode } from "./exit.ts";
import { Shutdown } from "./run/shutdown.ts";

/** `cinch torture`: shows that nothing is lost on this machine, with its disk and its kernel. */
export async function tortureCommand(): Promise<number> {
  // A signal must end the process by an exit.
  using _ = new Shutdown();
  process.once("exit", removeLeftovers);
  const points = crashPoints();
  process.stdout.write(`killing a process at each of ${points.length} crash points\n`);
  let done = 0;
  const verdicts = await tortureAll(
    points.map((point) => [point]),
    {
      cores: availableParallelism(),
      onVerdict: ({ points: [point], problems }) => {
        const verdict = problems.length === 0 ? "ok" : problems.join("; ");
        process.stdout.write(`${String(++done).padStart(3)}/${points.length}  ${point?.padEnd(28)} ${verdict}\n`);
      },
    },
  );
  const failed = verdicts.filter(({ problems }) => problems.length > 0).length;
  const summary =
    failed === 0 ? "nothing was lost, nothing ran twice, every thread continued" : `${failed} of them failed`;
  process.stdout.write(`${points.length} kills: ${summary}\n`);
  return failed === 0 ? ExitCode.complete : ExitCode.error;
}
