import { inPackage, type Mutant } from "./mutant.ts";

const FRAMES = ["thread/live-frames"];
const LINK = ["thread/live-link"];
const FAULTS = ["thread/live-faults"];

/** What a process shows of threads that others drive. */
export const live: Mutant[] = [
  ...inPackage("packages/core", [
    {
      attacks: "P8: what an earlier driver shows is shown",
      file: "thread/live-link.ts",
      find: '("epoch" in frame && frame.epoch < this.#epoch)',
      replace: "false",
      tests: FRAMES,
    },
    {
      attacks: "P8: a frame that was lost is not noticed",
      file: "thread/live-link.ts",
      find: "if (first > next) return false;",
      replace: "",
      tests: FRAMES,
    },
    {
      attacks: "P8: a repeated frame is shown again",
      file: "thread/live-link.ts",
      find: "events.slice(next - first)",
      replace: "events.slice(0)",
      tests: FAULTS,
    },
    {
      attacks: "P8: a gap in the journal is not read",
      file: "thread/live-link.ts",
      find: "await this.#thread.ingestUpTo(item.seq - 1);",
      replace: "void 0;",
      tests: FRAMES,
    },
    {
      attacks: "P8: live events of another release are passed on unchecked",
      file: "thread/live-link.ts",
      find: "if (isWellFormedLive(event)) this",
      replace: "this",
      tests: FRAMES,
    },
    {
      attacks: "P8: after a change to drafts the link goes on where it was",
      file: "thread/live-link.ts",
      find: '    this.#status = "down";\n    this.#position = undefined;\n',
      replace: '    this.#status = "down";\n',
      tests: LINK,
    },
    {
      attacks: "P8: text that a draft has shown comes again",
      file: "thread/stream-view.ts",
      find: "const delta = event.delta.slice(part",
      replace: "const delta = event.delta.slice(false && part",
      tests: LINK,
    },
    {
      attacks: "P8: a driver that sends nothing is waited for",
      file: "thread/follower.ts",
      find: "this.#link.silentMs > SILENT_MS",
      replace: "false",
      tests: LINK,
    },
    {
      attacks: "P8: a driver from the past goes on showing",
      file: "thread/live-feed.ts",
      find: "if (events.some(needsLease)) this.end();",
      replace: "",
      tests: ["thread/live-takeover"],
    },
    {
      attacks: "P8: a watcher gets the events that follow from the journal twice",
      file: "thread/thread.ts",
      find: "this.#show(this.#stamped(event));",
      replace: "this.emit(this.#stamped(event));",
      tests: LINK,
    },
    {
      attacks: "P7: a large event goes over the link",
      file: "thread/live-feed.ts",
      find: "bytes > LARGE_BYTES",
      replace: "false",
      tests: FRAMES,
    },
    {
      attacks: "a watcher reads the store although the link works",
      file: "thread/follower.ts",
      find: "if (this.#isLinked) this.#leaveToLink(seq);\n    else ",
      replace: "",
      tests: LINK,
    },
  ]),
  ...inPackage("packages/postgres", [
    {
      attacks: "live link: a wrong secret is accepted",
      file: "live/live-server.ts",
      find: "secret === undefined || timingSafeEqual",
      replace: "true || timingSafeEqual",
      tests: ["live/peer-live"],
    },
    {
      attacks: "P7: what waits for a process that never reads grows",
      file: "live/live-reader-connection.ts",
      find: "if (this.#lines.waiting > MAX_WAITING) return this.#lag(no);",
      replace: "",
      tests: ["live/peer-live"],
    },
    {
      attacks: "live link: without a secret other machines can connect",
      file: "live/live-options.ts",
      find: 'return "127.0.0.1";',
      replace: "return undefined;",
      tests: ["live/peer-live"],
    },
    {
      attacks: "live link: a line that is dead is not noticed",
      file: "live/line-socket.ts",
      find: "if (now - this.#heardAt > DEAD_MS) return this.close();",
      replace: "",
      tests: ["live/peer-live"],
    },
  ]),
];
