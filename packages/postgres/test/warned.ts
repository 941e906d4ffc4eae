import { once } from "node:events";
import process from "node:process";

/** Settles with the next warning whose message matches. Other tests of this process warn, too. */
export async function warned(message: RegExp): Promise<Error & { code?: string }> {
  for (;;) {
    const [warning] = (await once(process, "warning")) as [Error & { code?: string }];
    if (message.test(warning.message)) return warning;
  }
}
