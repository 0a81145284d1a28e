import type { ToScript } from '../command-tree.ts'
import {
  type CommandOption,
  type PlacedCommand,
  toPlacedCommands,
  type ValueKind,
} from '../command-tree.ts'

/** Generates one function per command; each passes the remaining words to the function of its subcommand. */
export const toZshScript: ToScript = (program, tree) => {
  const prefix = `_${program.replaceAll(/\W/g, '_')}`
  const functions = toPlacedCommands(tree).map((command) => toFunction(prefix, command))
  return `#compdef ${program}
# Completion of ${program} for zsh.

${functions.join('\n\n')}

# A file in $fpath is the function itself; when sourced, the function has to be registered.
if [[ $funcstack[1] == ${prefix} ]]; then
  ${prefix} "$@"
else
  compdef ${prefix} ${program}
fi
`
}

function toFunction(prefix: string, { words, node, options }: PlacedCommand): string {
  const name = [prefix, ...words].join('_')
  const specs = options.map(toOptionSpec)
  const { commands, operands } = node
  if (commands === undefined) {
    const rest = operands === undefined ? [] : [`'*:${toAction(operands)}'`]
    return `${name}() {
  _arguments ${[...specs, ...rest].join(' \\\n    ')}
}`
  }
  const list = Object.entries(commands).map(
    ([command, { summary }]) => `${command}\\:${quoteInList(summary)}`,
  )
  const branches = Object.keys(commands).map(
    (command) => `        ${command}) ${name}_${command} ;;`,
  )
  return `${name}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C ${[...specs, `'1:command:((${list.join(' ')}))'`, "'*::argument:->rest'"].join(' \\\n    ')}
  case $state in
    rest)
      case $words[1] in
${branches.join('\n')}
      esac ;;
  esac
}`
}

function toOptionSpec({ flags, summary, value }: CommandOption): string {
  const action = value === undefined ? '' : `:${toAction(value)}`
  const text = summary.replaceAll(/[[\]:\\]/g, '\\$&').replaceAll("'", `'\\''`)
  // Options may be repeated, so an option that was already given is still offered.
  return flags.map((flag) => `'*${flag}[${text}]${action}'`).join(' ')
}

function toAction(kind: ValueKind): string {
  if (kind === 'any') return 'value:'
  if (kind === 'file') return 'file:_files'
  if (kind === 'directory') return 'folder:_files -/'
  if ('choices' in kind) return `value:(${kind.choices.join(' ')})`
  return `list:_values -s , value ${kind.list.join(' ')}`
}

function quoteInList(text: string): string {
  return `"${text.replaceAll(/[:"\\$`]/g, '\\$&').replaceAll("'", `'\\''`)}"`
}
