import { inPackage } from "./mutant.ts";

/** Placements: wakes that arrive, come again, and end. */
export const placements = [
  ...inPackage("packages/postgres", [
    {
      attacks: "wakes of one thread pile up as jobs",
      file: "placement/graphile-placement.ts",
      find: "job_key => $3, max_attempts => 1",
      replace: "max_attempts => 1 + length($3) - length($3)",
      tests: ["placement/graphile"],
    },
    {
      attacks: "a thread that a leaving worker hands over is woken by no process",
      file: "placement/graphile-placement.ts",
      find: 'if (outcome === "handed_over") return',
      replace: "if (!outcome) return",
      tests: ["placement/graphile"],
    },
    {
      attacks: "a thread without room is brought to workers for ever",
      file: "placement/graphile-placement.ts",
      find: "AGAIN_MS[wake.refused]",
      replace: "AGAIN_MS[0]",
      tests: ["placement/conformance"],
    },
    {
      attacks: "an id with NUL is never brought to a worker",
      file: "placement/graphile-placement.ts",
      find: "thread: escapeText(threadId)",
      replace: "thread: threadId",
      tests: ["placement/conformance"],
    },
    {
      attacks: "jobs of workers that died stay in the database for ever",
      file: "placement/graphile-placement.ts",
      find: 'tasks: ["DELETE_PERMAFAILED_JOBS"]',
      replace: "tasks: []",
      tests: ["placement/graphile"],
    },
    {
      attacks: "a worker that has lost its connection fetches no jobs any more",
      file: "placement/lasting-connection.ts",
      find: "!this.#isClosed && !this.#client; attempt++",
      replace: "!this.#isClosed && !this.#client && attempt < 1; attempt++",
      tests: ["placement/lasting-connection"],
    },
  ]),
  ...inPackage("packages/restate", [
    {
      attacks: "a thread without room is tried four times a second",
      file: "drive-service.ts",
      find: "exponentiationFactor: 3,\n  maxInterval: 7_000,\n  maxAttempts: 5,",
      replace: "exponentiationFactor: 1,\n  maxInterval: 7_000,\n  maxAttempts: 500,",
      tests: ["conformance"],
    },
    {
      attacks: "a thread that a leaving worker hands over is woken by no process",
      file: "drive-service.ts",
      find: 'if (outcome === "handed_over") await',
      replace: "if (!outcome) await",
      tests: ["worker"],
    },
    {
      attacks: "a call for a thread that is gone is tried again",
      file: "drive-service.ts",
      find: "throw new TerminalError(error.message)",
      replace: "throw new Error(error.message)",
      tests: ["calls"],
    },
    {
      attacks: "a call that Restate did not sign starts a drive",
      file: "restate-placement.ts",
      find: "identity.length > 0 && { identityKeys: identity }",
      replace: "identity.length < 0 && { identityKeys: identity }",
      tests: ["calls"],
    },
    {
      attacks: "without a key, workers listen on all interfaces",
      file: "restate-placement.ts",
      find: 'identity.length > 0 ? undefined : "127.0.0.1"',
      replace: 'identity.length > 0 ? undefined : "0.0.0.0"',
      tests: ["calls"],
    },
    {
      attacks: "a Restate that lost its data never gets the workers again",
      file: "restate-placement.ts",
      find: "first === NOT_FOUND && (await this.#registration?.once())",
      replace: "first === NOT_FOUND && first === 0",
      tests: ["outages"],
    },
    {
      attacks: "a wake is lost when Restate has closed an idle connection",
      file: "json-poster.ts",
      find: "sent.reusedSocket && !signal.aborted",
      replace: "sent.reusedSocket && signal.aborted",
      tests: ["outages"],
    },
    {
      attacks: "a Restate that was down when a worker started never gets it",
      file: "registration.ts",
      find: "this.#keeping ??= this.#retry()",
      replace: "this.#keeping ??= Promise.resolve()",
      tests: ["outages"],
    },
    {
      attacks: "only one worker of a machine can listen",
      file: "worker-server.ts",
      find: 'reusePort: process.platform === "linux"',
      replace: "reusePort: false",
      tests: ["worker"],
    },
  ]),
];
