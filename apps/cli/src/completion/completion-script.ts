import type { CompletedShell } from "../command-table.ts";

/** The script that a shell sources. It asks the program for candidates, so that it never needs an update. */
export const completionScript = (shell: CompletedShell): string => scripts[shell];

const bash = `# bash completion for cinch
_cinch() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(cinch complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # A provider alone is followed by the name of a model.
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace
  return 0
}
complete -o bashdefault -o default -F _cinch cinch
`;

const zsh = `#compdef cinch
_cinch() {
  local line value about tab=$'\\t'
  # Those that are open are followed by no space.
  local -a closed open
  for line in "\${(@f)$(cinch complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    value=\${\${line%%$tab*}//:/\\\\:} about=\${line#*$tab}
    [[ -n $about ]] && about=:$about
    [[ $value == */ ]] && open+=("$value$about") || closed+=("$value$about")
  done
  if (( \${#closed} + \${#open} )); then
    _describe cinch closed -- open -S ''
  else
    compset -P 1 '*='
    _files
  fi
}
# As a file in $fpath, this script is the function itself.
if [[ $funcstack[1] == _cinch ]]; then _cinch "$@"; else compdef _cinch cinch; fi
`;

const fish = `# fish completion for cinch
function __cinch_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  cinch complete -- $words "$current" 2>/dev/null
end
complete -c cinch -f -a '(__cinch_complete)'
complete -c cinch -l db -r -F
complete -c cinch -s o -l output -r -F
`;

const scripts = { bash, zsh, fish } as const;
