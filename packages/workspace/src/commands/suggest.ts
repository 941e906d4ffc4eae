import { family, isInterpreter, isShell } from "./interpreters.ts";
import type { Reading, SimpleCommand } from "./reading.ts";
import { baseName } from "./word.ts";
import { isWrapper, PACKAGE_RUNNERS } from "./wrappers.ts";

/** How many words say what is done, by program: with one number the same for all of its subcommands. */
const SUBCOMMANDS = new Map<string, number>([
  ...(
    "git npm pnpm yarn bun cargo go docker podman kubectl helm gh glab pip uv poetry pipenv pdm apt apt-get brew systemctl service make just " +
    "rake task composer bundle gem rails dotnet mvn gradle gradlew mvnw terraform pulumi ansible conda mix rebar3 stack cabal swift flutter " +
    "dart nx turbo lerna rush prisma vercel netlify heroku fly wrangler supabase pre-commit hg svn jj deno rustup docker-compose"
  )
    .split(" ")
    .map((name): [string, number] => [name, 2]),
  ...[...PACKAGE_RUNNERS].map((name): [string, number] => [name, 2]),
  ...["gh", "glab", "aws", "gcloud", "az"].map((name): [string, number] => [name, 3]),
]);

/** Those whose second word only opens a list of further ones. */
const DEEPER = new Set(
  (
    "npm run|npm run-script|pnpm run|yarn run|bun run|uv run|uv pip|poetry run|pipenv run|pdm run|bundle exec|pnpm exec|npm exec|yarn exec|" +
    "docker compose|docker container|docker image|docker volume|docker network|podman compose|go mod|go tool|go work|git stash|git remote|" +
    "git worktree|git submodule|git bisect|dotnet tool|conda env|kubectl config|kubectl rollout"
  ).split("|"),
);

/** Only this very line, for those that do whatever a file, a machine or a page says, or that replace files. */
const EXACT = new Set(
  "mv cp ln install tee truncate curl wget ssh scp sftp rsync kill pkill killall chmod chown psql mysql mariadb sqlite3 mongosh redis-cli".split(
    " ",
  ),
);
const EXACT_PAIRS = new Set(
  (
    "go run|docker run|docker exec|podman run|podman exec|kubectl exec|kubectl apply|kubectl delete|gh api|deno run|git config|" +
    "terraform apply|terraform destroy"
  ).split("|"),
);

/** Nothing: what one such line does says nothing of the next, and no mistake can be taken back. */
const NEVER = new Set(
  (
    "rm rmdir unlink shred dd mkfs fdisk parted wipefs reboot shutdown halt poweroff init passwd usermod useradd userdel visudo mount " +
    "umount iptables nft crontab eval source . exec alias trap set shopt export unset"
  ).split(" "),
);

const LONGEST = 200;
const PLAIN = /^[\w.,:/@%+=-]+$/;
const RUNS = /^(?:run|exec|dlx|x)$/;
const SUBCOMMAND = /^[A-Za-z][\w:.-]*$/;

/** The narrowest pattern that is of any use, if all commands of the line have the same. Whether it covers the line is for others to say. */
export function suggestion({ commands, doubtful, more }: Reading): string | undefined {
  if (doubtful || more || commands.length === 0) return undefined;
  const all = new Set(commands.map((command) => (command.opaque ? undefined : patternFor(command))));
  const [only] = all;
  return all.size === 1 && only !== undefined && only.length <= LONGEST ? only : undefined;
}

function patternFor({ words, reach }: SimpleCommand): string | undefined {
  const texts = words.map(({ text }) => text);
  const name = texts[0]!;
  const base = baseName(name);
  if (!PLAIN.test(name) || NEVER.has(base) || base.startsWith("mkfs.")) return undefined;
  // `sh -c`
  if (isShell(base) && reach >= 0) return undefined;
  if (isWrapper(base) && !PACKAGE_RUNNERS.has(base)) return undefined;
  if (isInterpreter(base) && base !== "bun" && base !== "deno" && !isAwk(base)) return exactly(texts);
  if (EXACT.has(base) || EXACT_PAIRS.has(`${base} ${texts[1]}`)) return exactly(texts);
  const depth = SUBCOMMANDS.get(family(base));
  if (depth === undefined) return `${name} *`;
  const wanted = DEEPER.has(`${base} ${texts[1]}`) ? 3 : depth;
  const spoken = texts.slice(0, wanted);
  const isSpoken = spoken.length === wanted && spoken.slice(1).every((text) => SUBCOMMAND.test(text ?? ""));
  if (!isSpoken) return exactly(texts);
  const last = spoken.at(-1)!;
  const runs = PACKAGE_RUNNERS.has(base) || RUNS.test(spoken[1]!);
  if (runs && (NEVER.has(last) || isInterpreter(last) || isWrapper(last))) return undefined;
  return `${spoken.join(" ")} *`;
}

const isAwk = (name: string): boolean => name.endsWith("awk");

/** The words themselves, quoted where the pattern would otherwise read them as something else. */
function exactly(texts: readonly (string | undefined)[]): string | undefined {
  if (texts.includes(undefined)) return undefined;
  return texts.map((text) => (PLAIN.test(text!) ? text! : `'${text!.replaceAll("'", String.raw`'\''`)}'`)).join(" ");
}
