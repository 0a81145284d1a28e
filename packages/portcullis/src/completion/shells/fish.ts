import type { ToScript } from '../command-tree.ts'
import {
  type CommandOption,
  type PlacedCommand,
  toPlacedCommands,
  type ValueKind,
} from '../command-tree.ts'

export const toFishScript: ToScript = (program, tree) => {
  const placed = toPlacedCommands(tree)
  const at = `__${program.replaceAll(/\W/g, '_')}_at`
  const paths = placed.map(({ words }) => toPath(words)).filter((path) => path !== '')
  return `# Completion of ${program} for fish.

# Whether the words typed so far select this command.
function ${at}
  set -l at ''
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch "$at/$word"
      case ${paths.join(' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end

complete -c ${program} -e
complete -c ${program} -f
${placed.flatMap((command) => toLines(program, at, command)).join('\n')}
`
}

function toPath(words: readonly string[]): string {
  return words.map((word) => `/${word}`).join('')
}

function toLines(program: string, at: string, { words, node, options }: PlacedCommand): string[] {
  const start = `complete -c ${program} -n '${at} "${toPath(words)}"'`
  const commands = Object.entries(node.commands ?? {}).map(
    ([name, { summary }]) => `${start} -a ${name} -d ${quote(summary)}`,
  )
  const operands = node.operands === undefined ? '' : toValue(node.operands)
  return [
    ...commands,
    ...(operands === '' ? [] : [`${start} ${operands}`]),
    ...options.map((option) => `${start} ${toFlags(option)} -d ${quote(option.summary)}`),
  ]
}

function toFlags({ flags, value }: CommandOption): string {
  const spelled = flags.map((flag) => {
    if (flag.startsWith('--')) return `-l ${flag.slice(2)}`
    // Fish calls long names with a single dash old-style options.
    return flag.length === 2 ? `-s ${flag.slice(1)}` : `-o ${flag.slice(1)}`
  })
  if (value === undefined) return spelled.join(' ')
  // -x: a value is required, and it is not a file.
  const needs = value === 'file' ? '-r' : '-x'
  return `${spelled.join(' ')} ${needs} ${toValue(value)}`.trimEnd()
}

function toValue(kind: ValueKind): string {
  if (kind === 'any') return ''
  if (kind === 'file') return '-F'
  if (kind === 'directory') return "-a '(__fish_complete_directories)'"
  if ('choices' in kind) return `-a '${kind.choices.join(' ')}'`
  return `-a '(__fish_append , ${kind.list.join(' ')})'`
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
