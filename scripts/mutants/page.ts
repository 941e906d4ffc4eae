import type { Mutant } from "./mutant.ts";

const test = (name: string): string => `apps/web/test/${name}.test.ts`;
const inPage = (mutants: readonly Mutant[]): Mutant[] =>
  mutants.map(({ file, ...rest }) => ({ ...rest, file: `apps/web/src/page/${file}` }));

/** What the page shows, and what a user can do in it. */
export const page: Mutant[] = [
  ...inPage([
    {
      attacks: "page: every hidden tab lets go of its stream, so that none notifies",
      file: "tab-rest.ts",
      find: "if (isKeeper || shown.aborted) return;",
      replace: "if (shown.aborted) return;",
      tests: [test("hidden-tabs")],
    },
    {
      attacks: "page: a notification comes while another tab is shown",
      file: "ui/waiting-title.ts",
      find: " || (await isAnyTabShown())",
      replace: "",
      tests: [test("hidden-tabs")],
    },
    {
      attacks: "page: keys typed right after Ctrl-K go to the composer",
      file: "ui/modal.tsx",
      find: "dialog.showModal();",
      replace: "setTimeout(() => dialog.showModal());",
      tests: [test("composing")],
    },
    {
      attacks: "page: a refused message is lost",
      file: "thread/message-box.tsx",
      find: "        draft.add(message.content);\n",
      replace: "",
      tests: [test("composing")],
    },
    {
      attacks: "page: a rewound message can't be edited and sent again",
      file: "thread/rewind-dialog.tsx",
      find: "      onRewound(contentText(message.content));\n",
      replace: "",
      tests: [test("composing")],
    },
    {
      attacks: "page: the focus is lost when a question is answered",
      file: "ui/focus.ts",
      find: "if (box.current) box.current.focus();",
      replace: "if (box.current) return;",
      tests: [test("approving")],
    },
    {
      attacks: "page: a double click answers the next question, too",
      file: "asked/asked.tsx",
      find: "    if (!isFresh) return;\n",
      replace: "    if (event.type !== '') return;\n",
      tests: [test("approving")],
    },
    {
      attacks: "page: a result that was cut is shown as if it were whole",
      file: "thread/tool-call.tsx",
      find: "const cut = isCut(call) || isCut(outcome?.result);",
      replace: "const cut = false;",
      tests: [test("threads")],
    },
    {
      attacks: "page: an export has only a part of long results",
      file: "thread/export.ts",
      find: "callIds: new Set(messages.flatMap(cutIn))",
      replace: "callIds: new Set()",
      tests: [test("threads")],
    },
    {
      attacks: "page: clones are missing in the list",
      file: "threads/thread-nav.tsx",
      find: "threads.filter(({ id }) => !hidden.has(id))",
      replace: "threads.filter(({ id, parentId }) => parentId === null && !hidden.has(id))",
      tests: [test("threads")],
    },
    {
      attacks: "page: people at a thread do not see each other",
      file: "thread/use-presence.ts",
      find: "return seat.subscribe(read);",
      replace: "return () => {};",
      tests: [test("threads")],
    },
    {
      attacks: "page: messages of the user look like those of the agent",
      file: "style.css",
      find: ".message.user {\n  margin-inline-start: auto;",
      replace: ".message.user-gone {\n  margin-inline-start: auto;",
      tests: [test("pictures")],
    },
  ]),
  {
    attacks: "page: a caller who may only read starts a tour, which runs commands",
    file: "apps/cli/src/serve/tours.ts",
    find: " || !ROLES.every((role) => who.may.includes(role))",
    replace: "",
    tests: ["apps/cli/test/serve/tour.test.ts"],
  },
  {
    attacks: "page: below a mounted name the server itself answers",
    file: "packages/server/src/create-server.ts",
    find: "const answer = mount ? mount(request) : handler.handle(request, arrival);",
    replace: "const answer = handler.handle(request, arrival);",
    tests: ["packages/server/test/mounting.test.ts"],
  },
];
