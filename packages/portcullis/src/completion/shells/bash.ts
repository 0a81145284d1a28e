import type { ToScript } from '../command-tree.ts'
import {
  type CommandNode,
  type PlacedCommand,
  toPlacedCommands,
  type ValueKind,
} from '../command-tree.ts'

/** Works with every bash since 3.2, the version of macOS, and without the bash-completion package. */
export const toBashScript: ToScript = (program, tree) => {
  const placed = toPlacedCommands(tree)
  const name = `_${program.replaceAll(/\W/g, '_')}`
  return `# Completion of ${program} for bash.

${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' word
  # Bash splits --option=value into three words.
  if [[ $cur == '=' ]]; then cur=''
  elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi

  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${toPaths(placed)}) at="$at/$word" ;;
    esac
  done

  local options='' kind=words words=''
  case "$at" in
${placed.map(toBranch).join('\n')}
  esac
  # Offer options when no other argument can follow.
  if [[ $cur == -* || $kind == none ]]; then kind=words words=$options; fi
  case "$at $prev" in
${placed.flatMap(toValueBranches).join('\n')}
  esac

  local IFS=$'\\n'
  case $kind in
    words) COMPREPLY=($(IFS=' '; compgen -W "$words" -- "$cur")) ;;
    list) COMPREPLY=($(IFS=' '; compgen -P "\${cur%"\${cur##*,}"}" -W "$words" -- "\${cur##*,}")) ;;
    file) COMPREPLY=($(compgen -f -- "$cur")) ;;
    directory) COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=() ;;
  esac
  case $kind in
    file | directory) compopt -o filenames 2>/dev/null ;;
    list) compopt -o nospace 2>/dev/null ;;
  esac
  return 0
}

complete -F ${name} ${program}
`
}

function toPath(words: readonly string[]): string {
  return words.map((word) => `/${word}`).join('')
}

function toPaths(placed: readonly PlacedCommand[]): string {
  return placed
    .filter(({ words }) => words.length > 0)
    .map(({ words }) => toPath(words))
    .join(' | ')
}

function toBranch({ words, node, options }: PlacedCommand): string {
  const flags = options.flatMap((option) => option.flags).join(' ')
  return `    '${toPath(words)}') options='${flags}' ${toOperands(node)} ;;`
}

function toOperands({ commands, operands }: CommandNode): string {
  if (commands) return `words='${Object.keys(commands).join(' ')}'`
  return operands === undefined ? 'kind=none' : toKind(operands)
}

function toKind(kind: ValueKind): string {
  if (typeof kind === 'string') return `kind=${kind}`
  return 'choices' in kind
    ? `kind=words words='${kind.choices.join(' ')}'`
    : `kind=list words='${kind.list.join(' ')}'`
}

function toValueBranches({ words, options }: PlacedCommand): string[] {
  return options.flatMap(({ flags, value }) => {
    if (value === undefined) return []
    const patterns = flags.map((flag) => `'${toPath(words)} ${flag}'`).join(' | ')
    return [`    ${patterns}) ${toKind(value)} ;;`]
  })
}
