import { findSimilarName, toQuestion } from '../text/similar-names.ts'
import type { Command, CommandIo, Writer } from './command.ts'

export interface Program {
  /** The usual name of the program. */
  readonly name: string
  readonly version: string
  readonly summary: string
  readonly commands: Readonly<Record<string, () => Promise<Command>>>
  /** How the user calls one of the commands, if known. */
  readonly toCall?: (command: string) => string
}

const helpFlags = new Set(['--help', '-help', '-h'])
const versionFlags = new Set(['--version', '-version', '-v', 'version'])

/** Runs the command that the arguments name. Resolves to the exit code. */
export async function dispatch(
  program: Program,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  const rename = createRename(program)
  const [name, ...rest] = args
  if (name === undefined) {
    io.stderr.write(rename(await toOverview(program)))
    return 2
  }
  if (versionFlags.has(name)) {
    io.stdout.write(`${program.version}\n`)
    return 0
  }
  const wantsHelp = name === 'help' || helpFlags.has(name)
  const [subject] = wantsHelp ? rest : [name]
  if (subject === undefined) {
    io.stdout.write(rename(await toOverview(program)))
    return 0
  }
  const load = Object.hasOwn(program.commands, subject) ? program.commands[subject] : undefined
  if (load === undefined) {
    const known = Object.keys(program.commands)
    const suggestion = toQuestion(subject, known)
    io.stderr.write(
      `Unknown command ${JSON.stringify(subject)}. Commands: ${known.join(', ')}.${suggestion}\n`,
    )
    return 2
  }
  const command = await load()
  const renameOf = command.keepsName ? createUsageRename(rename) : rename
  // Arguments after `--` belong to the command, even if they look like options.
  const end = rest.indexOf('--')
  const options = end === -1 ? rest : rest.slice(0, end)
  if (wantsHelp || options.some((arg) => helpFlags.has(arg))) {
    io.stdout.write(renameOf(withNewline(command.usage)))
    return 0
  }
  let suggestions = suggestOptions(options, command.usage)
  const stderr: Writer = {
    write(text) {
      const [before = text, reference = ''] = text.split(helpReference)
      if (reference !== '') {
        io.stderr.write(renameOf(before + suggestions + reference))
        suggestions = ''
      } else io.stderr.write(renameOf(text))
    },
  }
  const exitCode = await command.run(rest, { ...io, stderr })
  if (exitCode === 2 && suggestions !== '') io.stderr.write(suggestions)
  return exitCode
}

/** The last line of an argument error. Suggestions belong to the error, so they come before it. */
const helpReference = /(?<![^\n])(See: [^\n]+ --help\n)$/

/** Texts call a command `PROGRAM COMMAND`; the user may call it differently. */
function createRename({ name, commands, toCall }: Program): (text: string) => string {
  if (toCall === undefined) return String
  const names = [...Object.keys(commands), 'COMMAND', '--version'].join('|')
  const call = new RegExp(`(?<![\\w@/.-]|npx )${name} (${names})(?![\\w-])`, 'g')
  return (text) => text.replaceAll(call, (_, command: string) => toCall(command))
}

/** Renames only the lines about how to call it, because the examples below them are for files. */
function createUsageRename(rename: (text: string) => string): (text: string) => string {
  return (text) => text.replaceAll(/^(?:Usage|See): .*/gm, rename)
}

/** Suggests known options for options that the usage does not mention, one per line. */
function suggestOptions(args: readonly string[], usage: string): string {
  const known = new Map(
    [...usage.matchAll(/(?<![\w-])--?([a-z][\w-]*)/g)].map(([flag, name = '']) => [name, flag]),
  )
  const lines = args.map((arg) => {
    const [written = '', name = ''] = /^--?([A-Za-z][\w-]*)/.exec(arg) ?? []
    if (name.length < 2 || known.has(name)) return ''
    const meant = known.get(findSimilarName(name, known.keys()) ?? '')
    return meant === undefined ? '' : `Did you mean ${meant} instead of ${written}?\n`
  })
  return lines.join('')
}

async function toOverview({ name, summary, commands }: Program): Promise<string> {
  const width = Math.max(...Object.keys(commands).map((command) => command.length))
  const lines = await Promise.all(
    Object.entries(commands).map(
      async ([command, load]) => `  ${command.padEnd(width)}  ${(await load()).summary}`,
    ),
  )
  return `Usage: ${name} COMMAND [ARGUMENT…]

${summary}

Commands:
${lines.join('\n')}

${name} COMMAND --help describes one command.
${name} --version shows the version.
`
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
