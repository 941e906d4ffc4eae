import { wordList } from "../../contents/word-list.ts";
import { parseOptions, type Options } from "./options.ts";

/**
 * Only these programs are trusted to do nothing but what their name says; any other program, subcommand or option is in doubt. A
 * subcommand is written as `git/log`, and is trusted only with the options of its line.
 */
export type ProgramKind = "any" | "options" | "runs" | "script";

export interface KnownProgram {
  readonly kind: ProgramKind;
  readonly options: Options;
  readonly depth: number;
  /** Whether the word after its name says what it does, as in `npm run test`. */
  readonly next: boolean;
  /** `first`: options end at the first operand. Of wrappers: see `RUNS`. */
  readonly traits: ReadonlySet<string>;
}

/** With any arguments they run nothing, and write only what they are meant to write. */
const ANY = `
  [ b2sum base32 basename cat cd cksum cmp column comm cut df diff dirname du echo egrep expand expr factor false fgrep fmt fold
  free grep groups head hexdump id jq join ls lsof md5sum nl nproc numfmt od paste pgrep printenv ps pwd readelf readlink realpath rev
  seq sha1sum sha224sum sha256sum sha384sum sha512sum size sleep stat strings tac tail test tr true tsort type uname unexpand uptime wc
  whereis which who whoami zcat : exit return break continue shift umask
  chmod chown cp dd kill killall ln mkdir mktemp mv pkill rm rmdir shred sync tee touch truncate unlink
  git/add git/branch git/check-ignore git/checkout git/cherry git/clean git/count-objects git/describe git/for-each-ref
  git/fsck git/ls-files git/ls-tree git/merge-base git/mv git/name-rev git/prune git/reset git/restore git/rev-parse git/rm git/show-ref
  git/stash/apply git/stash/clear git/stash/drop git/stash/pop git/stash/push git/status git/switch git/symbolic-ref git/tag
  git/update-index git/version git/worktree/list git/worktree/prune git/worktree/remove
  docker/ps docker/images docker/logs docker/inspect docker/stop docker/start docker/restart docker/rm docker/rmi docker/pull docker/tag
  docker/top docker/stats docker/version docker/info docker/network/ls docker/volume/ls docker/compose/up docker/compose/down
  docker/compose/ps docker/compose/logs docker/compose/stop docker/compose/start docker/compose/restart docker/compose/pull
  docker/compose/build docker/compose/rm gh/pr/view gh/pr/list gh/pr/status gh/pr/checks gh/pr/diff gh/issue/view gh/issue/list gh/issue/status
  gh/run/list gh/run/view gh/repo/view gh/release/list gh/release/view gh/auth/status go/fmt go/mod/tidy go/mod/download go/mod/verify
  go/mod/graph go/mod/why go/version rustup/show rustup/toolchain/list brew/list brew/info brew/search terraform/fmt terraform/validate`;

const NPM = `- s D g f y E w:: silent save-dev global force yes workspace== workspaces if-present json long depth== omit== include== production
    prefer-offline offline loglevel== ignore-scripts no-audit no-fund no-save save-exact legacy-peer-deps frozen-lockfile dry-run
    package-lock-only ws tag== access== otp== quiet no-progress recursive all prod dev watch`;
const SHOWS = `pn::MsuzCcrtmiEFPqgL;S;G;UwbRa oneline stat graph all author== since== until== after== before== grep== format pretty name-only
    name-status no-color color decorate no-decorate abbrev-commit abbrev follow reverse merges no-merges first-parent cached staged
    word-diff check shortstat numstat date== patch no-patch max-count== skip== summary no-renames find-renames ignore-all-space
    ignore-space-change exit-code quiet branches tags remotes committer== unified diff-filter== dirstat raw minimal histogram patience
    full-history color-words no-commit-id topo-order date-order no-index relative binary pickaxe-regex invert-grep left-right cherry-pick boundary merge-base
    compact-summary no-ext-diff no-textconv no-prefix walk-reflogs include-untracked count`;
const CARGO = `vqj::p::i:: release all workspace package== features== all-features no-default-features lib bin== bins test== tests example== examples
    all-targets locked offline frozen target== no-run no-fail-fast message-format== profile== jobs== quiet verbose exclude== doc no-deps fix
    allow-dirty allow-staged check depth== invert== duplicates dev dry-run !.json`;
const REVISES = `qvnfm:: continue abort skip quit no-commit no-edit mainline== allow-empty onto== autostash no-autostash quiet rebase-merges
    keep-base root autosquash no-verify no-ff ff-only ff squash message== stat no-stat verbose allow-unrelated-histories`;

/** With these options they run nothing and write nothing. `+`: the next word says what it does. The syntax is that of `parseOptions`. */
const OPTIONS = `
  sort bdfghiMnRrVsuzcCmk:t:S: reverse numeric-sort unique key= field-separator= ignore-case version-sort human-numeric-sort check stable
  uniq cduizf:s:w: count repeated unique ignore-case skip-fields= <1
  shuf ezn:ri: echo head-count= repeat input-range=
  tree adfipshugDFqNACXJSnlL::P::I:: dirsfirst noreport filelimit== prune gitignore !^-
  date uRIud:r: date= utc iso-8601 rfc-3339= reference= universal
  hostname fsiIdA <0
  arch - <0
  xxd bprui s:l:c:g: ps plain cols= len= seek= groupsize= ~ <1
  base64 dDw:b:i:: decode wrap= ignore-garbage break= input=
  file bhikLNrsz0v brief mime mime-type mime-encoding dereference
  printf:first - !$( !${"`"}
  set euxvo: <0
  wait nf
  read ersp:n:t:d:a:u:N: ![
  less NRSFXiInEe !+
  rg iSsvnNlLcowxFUuhH0zf:g:t:T:e:A:B:C:m:M:j:r:d: ignore-case smart-case case-sensitive invert-match line-number no-line-number
    files-with-matches files-without-match count count-matches only-matching word-regexp line-regexp fixed-strings multiline hidden glob=
    type= type-not= regexp= after-context= before-context= context= max-count= files type-list no-heading heading no-filename with-filename
    color= json stats sort= sortr= max-depth= iglob= no-ignore no-messages vimgrep column trim pcre2 replace= passthru null unrestricted
  sed,awk,gawk,mawk,nawk -
  find LHP name= iname= path= ipath= wholename= type= maxdepth= mindepth= size= mtime= mmin= atime= ctime= newer= newermt= user= group= perm= empty
    not or and print print0 ls prune regex= iregex= regextype= printf= links= xdev mount true false quit depth daystart executable
    readable writable o a inum= samefile= follow lname= ~ --
  fd HIuisFagLp0le:t:E:d:c: hidden no-ignore extension= type= exclude= max-depth= min-depth= absolute-path glob fixed-strings full-path
    ignore-case case-sensitive color= size= changed-within= changed-before= follow print0 unrestricted
  tar xctvzjJpkhamf:C:X: gzip bzip2 xz verbose file= directory= exclude= strip-components= list extract create get keep-old-files !:
  unzip lqonvtjd::x::
  gzip,gunzip cdfklnqrtv decompress keep stdout
  zip rqvj
  make+ jkBsinwql:: jobs== keep-going silent dry-run always-make just-print no-print-directory ^C: ^directory= !=
  curl sSLIfgkvNiGH:X:d:A:m:u: silent show-error location head fail header= request= data= max-time= connect-timeout= retry= compressed
    user-agent= json= data-raw= data-binary= get no-progress-meter include verbose insecure user= url= !^@
  ping c:i:W:w:nq46
  tsc p::wvb noEmit watch project== build strict pretty skipLibCheck noemit version listFiles ~ !^@
  eslint q fix quiet ext== max-warnings== cache ignore-pattern== no-warn-ignored color no-color --
  prettier lwcu check write list-different ignore-unknown log-level== cache --
  jest,vitest ibt::w::u coverage watch watchAll testPathPattern== testNamePattern== runInBand bail ci verbose silent passWithNoTests
    updateSnapshot run maxWorkers== onlyChanged --
  mocha ibt::g::w bail ci watch grep== fgrep== timeout== recursive exit -- !^init
  pytest vqxslk:m:n::r: verbose quiet exitfirst maxfail= last-failed lf failed-first ff tb= durations= collect-only co no-header
    disable-warnings showlocals stepwise sw color= markers cov== -- !^@ !^-p
  ruff,ruff/check,ruff/format,black,isort,mypy,flake8,pylint qvl:: fix check diff select== ignore== quiet watch show-fixes unsafe-fixes
    line-length== strict ignore-missing-imports show-error-codes pretty max-line-length== count statistics disable== enable== -- !^@
  unittest,venv,http.server,json.tool,compileall,ensurepip vfbqk:s:t:p: upgrade indent= sort-keys bind= directory= <1
  git P version help no-pager no-optional-locks no-replace-objects literal-pathspecs no-advice ^C: ^git-dir= ^work-tree= ^namespace=
  git/log,git/show,git/diff,git/reflog,git/reflog/show,git/whatchanged,git/diff-tree,git/diff-index,git/diff-files,git/range-diff,git/rev-list ${SHOWS}
  git/stash/show,git/stash/list,git/blame ${SHOWS} --
  git/shortlog sne summary numbered email all since== until== no-merges
  git/commit avqnsm:F:C: message= all amend no-edit no-verify quiet verbose allow-empty author= date= file= signoff fixup= squash= dry-run
    only include cleanup= allow-empty-message no-gpg-sign reuse-message= reset-author short porcelain
  git/push funvqdo: force force-with-lease force-if-includes set-upstream tags all delete dry-run no-verify follow-tags porcelain atomic
    prune mirror quiet verbose progress no-progress push-option= no-force-with-lease branches !::
  git/fetch,git/pull ptafvqnkj::r prune tags all depth== unshallow rebase no-rebase ff-only ff no-ff autostash no-autostash quiet verbose
    force jobs== recurse-submodules dry-run no-tags append deepen== shallow-since== progress no-edit squash no-commit set-upstream -- !::
  git/clone lqvnb:j: depth= branch= single-branch quiet recurse-submodules no-checkout bare mirror filter= sparse shallow-since= progress
    verbose no-tags jobs= local no-hardlinks shared !::
  git/merge,git/rebase,git/cherry-pick,git/revert ${REVISES}
  git/grep rniIlLwEFPchHvoqpWe:A:B:C: line-number ignore-case files-with-matches name-only word-regexp count cached untracked and or not
    heading break extended-regexp fixed-strings perl-regexp show-function function-context all-match no-index max-depth=
  git/config l get get-all get-regexp list show-origin show-scope name-only global local system <1 !^edit
  git/remote,git/remote/show,git/remote/get-url,git/remote/add,git/remote/remove,git/remote/rename,git/remote/set-url,git/remote/prune
    vnft::m:: verbose push all add delete !::
  git/ls-remote htq heads tags refs quiet exit-code symref branches !::
  git/init qb: bare quiet initial-branch= <1
  git/apply Rvp:C: check stat numstat summary index cached 3way reverse verbose whitespace= reject recount
  git/cat-file ptse
  git/archive lv list verbose format prefix
  git/gc q aggressive auto prune quiet
  git/stash kuqam: keep-index include-untracked all quiet message=
  git/bisect/start,git/bisect/good,git/bisect/bad,git/bisect/reset,git/bisect/log,git/bisect/skip -
  git/submodule/status,git/submodule/init,git/submodule/update,git/submodule/sync,git/submodule/add,git/submodule/deinit
    qfb:: init recursive remote depth== quiet force checkout rebase merge jobs== !::
  git/worktree/add fb:B: detach force lock checkout no-checkout quiet track
  npm,pnpm,yarn,bun,cargo,go,pip,docker,kubectl,gh,brew,apt,apt-get,terraform,uv,poetry,dotnet,deno,bundle,composer,rustup,mix,dart,flutter,swift
    qvsy silent quiet verbose version help yes
  npm/test,npm/t,npm/tst,npm/start,npm/stop,npm/restart,npm/install,npm/i,npm/add,npm/ci,npm/uninstall,npm/remove,npm/rm,npm/un,npm/r,npm/update,npm/up,npm/dedupe,npm/prune,npm/rebuild,npm/publish,npm/pack,npm/link,npm/unlink,npm/fund,npm/ls,npm/list,npm/view,npm/info,npm/outdated,npm/audit,npm/why,npm/root,npm/prefix,npm/whoami,npm/search,npm/version,npm/run+,npm/run-script+,bun/run+,bun/test,bun/install,bun/i,bun/add,bun/remove,bun/update
    ${NPM}
  pnpm/run+,pnpm/test,pnpm/t,pnpm/start,pnpm/install,pnpm/i,pnpm/add,pnpm/remove,pnpm/rm,pnpm/update,pnpm/up,pnpm/publish,pnpm/build,pnpm/audit,pnpm/ls,pnpm/list,pnpm/why,pnpm/outdated
    ${NPM} r
  yarn/run+,yarn/test,yarn/start,yarn/install,yarn/add,yarn/remove,yarn/up,yarn/upgrade,yarn/publish,yarn/build,yarn/list,yarn/why,yarn/info
    ${NPM} !^--use-yarnrc
  cargo/test,cargo/build,cargo/check,cargo/run,cargo/bench,cargo/doc,cargo/clean,cargo/tree,cargo/metadata,cargo/search,cargo/add,cargo/remove,cargo/rm,cargo/update,cargo/publish
    ${CARGO} !^--logfile
  cargo/clippy,cargo/fmt ${CARGO} D:W:A:F: -- !^@
  go/vet vxan race tags= json ~ !^-
  go/test,go/build,go/install,go/list,go/get,go/clean
    vxanm race run= count= cover short bench= benchmem timeout= p= tags= json failfast parallel= cpu= list= ~
  pip/install,pip/uninstall,pip/download,pip/list,pip/show,pip/freeze,pip/check Ur:e::yq upgrade requirement= editable== user no-deps quiet
    yes dry-run no-cache-dir pre outdated
  uv/sync,uv/add,uv/remove,uv/lock,uv/tree,uv/pip/install,uv/pip/list,uv/pip/uninstall,poetry/install,poetry/add,poetry/remove,poetry/update,poetry/lock,poetry/build,poetry/show,poetry/check,bundle/install,bundle/update,bundle/list,composer/install,composer/update,composer/require,composer/show,mix/test,mix/compile,mix/format,mix/deps.get,dart/test,dart/format,dart/analyze,flutter/test,flutter/analyze,swift/build,swift/test
    qvn::Dr::U dev frozen locked upgrade quiet group== extra== all-extras verbose no-dev trace no-interaction --
  dotnet/build,dotnet/test,dotnet/restore,dotnet/clean,dotnet/format
    c::v::f:: configuration== no-restore no-build verbosity== filter== -- !^/ !^@
  dotnet/run c::v::f:: configuration== no-restore no-build verbosity== !^/ !^@ !^-b !^-B !^--b !^--B
  deno/test,deno/fmt,deno/lint,deno/check,deno/task Aq allow-all allow-read allow-net quiet check watch
  apt/install,apt-get/install,apt/update,apt-get/update,apt/upgrade,apt-get/upgrade,apt/remove,apt-get/remove,apt/autoremove,apt/list,apt/show,apt/search,brew/install,brew/update,brew/upgrade,brew/uninstall,rustup/update,rustup/target/add,rustup/component/add
    qyf yes quiet no-install-recommends fix-broken cask installed upgradable
  systemctl q quiet no-pager user version help
  systemctl/status,systemctl/list-units,systemctl/is-active,systemctl/start,systemctl/stop,systemctl/restart,journalctl
    xefrbklau:n::S:U:p:o: no-pager lines== all user type= state= full output= since= until= unit= follow priority= boot
  docker/build qt:f: tag= file= no-cache pull target= platform= quiet progress=
  kubectl ^n: ^namespace= ^context= !^--kuberc
  kubectl/get,kubectl/describe,kubectl/logs,kubectl/top,kubectl/version,kubectl/explain,kubectl/delete,kubectl/scale
    o:n:l:Awf::c::p output= namespace= selector= all-namespaces watch show-labels follow tail= since= previous container= all replicas= force !^--kuberc
  terraform/plan,terraform/init,terraform/show,terraform/output - no-color input refresh json lock compact-warnings detailed-exitcode ~
  mvn+,mvnw+ qoBUX offline quiet -- !:
  gradle+,gradlew+ q info stacktrace offline no-daemon quiet console== parallel continue --`;

/**
 * They run the command after their options. `through`: they change nothing about it. `sets`: assignments may come before it. `feeds`: they
 * add their input to it. `1`: one word of their own comes before it.
 */
const RUNS = `
  time:through p
  nice:through n: adjustment=
  timeout:through:1 vfpk:s: foreground preserve-status verbose kill-after= signal=
  nohup,setsid,exec,command,builtin -
  stdbuf i:o:e: input= output= error=
  ionice c:n:t class= classdata= ignore
  env:sets iv0u:C: ignore-environment unset= chdir=
  sudo:sets EHnSkAbu:g: user= group= preserve-env non-interactive set-home
  doas nu:
  xargs:feeds 0rtxon:P:L:d:a:s:I: null no-run-if-empty verbose max-args= max-procs= max-lines delimiter= arg-file= exit replace
  npx,uvx,yarn/dlx yqp: yes no quiet package= silent
  bunx,pnpx,npm/exec,npm/x,pnpm/exec,pnpm/dlx,bun/x yqp:: yes no quiet package== silent
  yarn/exec yqp:: yes no quiet package== silent !^--use-yarnrc
  uv/run,poetry/run,pipenv/run,pdm/run,hatch/run,rye/run,bundle/exec,pipx/run q quiet frozen locked`;

/** They run a file: the first word after these options. */
const SCRIPTS = `
  sh,bash,dash,zsh,ksh,mksh,ash,rbash euxlvnfco: login norc noprofile posix
  python,pypy uBOsSEIvbdqm:
  node,nodejs C: test watch enable-source-maps no-warnings trace-warnings experimental-strip-types experimental-test-coverage
    conditions= max-old-space-size trace-uncaught unhandled-rejections= preserve-symlinks expose-gc
  perl,ruby,php w
  lua,luajit,julia,Rscript,tclsh,wish,osascript,groovy,elixir,tsx,ts-node,go/run,source,. -
  deno/run Aq allow-all allow-read allow-net`;

/** Subcommands that are in doubt, of the groups that do something without one. */
const DOUBTED = new Set(
  wordList(`
    git/reflog/expire git/reflog/delete git/reflog/drop git/reflog/exists git/reflog/list git/reflog/write git/remote/update
    git/remote/set-head git/remote/set-branches git/remote/rm ruff/analyze ruff/clean ruff/config ruff/linter ruff/rule ruff/server
    ruff/version ruff/help ruff/generate-shell-completion`),
);

const table = new Map<string, KnownProgram>();

function add(key: string, { kind, options, traits }: Pick<KnownProgram, "kind" | "options" | "traits">): void {
  const name = key.replace(/\+$/, "");
  table.set(name, { kind, options, traits, depth: name.split("/").length, next: name !== key });
}

function addLines(kind: ProgramKind, text: string): void {
  for (const line of text.trim().split(/\n {2}(?! )/)) {
    const [names, ...tokens] = wordList(line) as [string, ...string[]];
    const [keys, ...traits] = names.split(":") as [string, ...string[]];
    const program = { kind, options: parseOptions(tokens), traits: new Set(traits) };
    for (const key of keys.split(",")) add(key, program);
  }
}

for (const name of wordList(ANY)) add(name, { kind: "any", options: parseOptions([]), traits: new Set() });
addLines("options", OPTIONS);
addLines("runs", RUNS);
addLines("script", SCRIPTS);

/** Names that take a subcommand: `git`, `git/stash`. */
const groups = new Set(
  [...table.keys()].flatMap((key) => [...key.matchAll(/\//g)].map(({ index }) => key.slice(0, index))),
);

export const knownProgram = (key: string): KnownProgram | undefined => table.get(key);
export const isSubcommand = (key: string): boolean => table.has(key) || groups.has(key) || DOUBTED.has(key);
export const isGroup = (key: string): boolean => groups.has(key);
