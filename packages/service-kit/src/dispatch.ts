import type { Command, CommandIo } from './command.ts'

export interface Program {
  /** How people call it. */
  readonly name: string
  readonly version: string
  readonly summary: string
  readonly commands: Readonly<Record<string, () => Promise<Command>>>
}

const helpFlags = new Set(['--help', '-help', '-h'])
const versionFlags = new Set(['--version', '-version', '-v', 'version'])

/** Finds the command that the arguments name and runs it. Resolves to the exit code. */
export async function dispatch(
  program: Program,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined) {
    io.stderr.write(await toOverview(program))
    return 2
  }
  if (versionFlags.has(name)) {
    io.stdout.write(`${program.version}\n`)
    return 0
  }
  const asksForHelp = name === 'help' || helpFlags.has(name)
  const [subject] = asksForHelp ? rest : [name]
  if (subject === undefined) {
    io.stdout.write(await toOverview(program))
    return 0
  }
  const load = Object.hasOwn(program.commands, subject) ? program.commands[subject] : undefined
  if (load === undefined) {
    const known = Object.keys(program.commands).join(', ')
    io.stderr.write(`There is no command ${JSON.stringify(subject)}; there are: ${known}.\n`)
    return 2
  }
  const command = await load()
  // What follows `--` is the command's own, whatever it looks like.
  const end = rest.indexOf('--')
  const options = end === -1 ? rest : rest.slice(0, end)
  if (asksForHelp || options.some((arg) => helpFlags.has(arg))) {
    io.stdout.write(withNewline(command.usage))
    return 0
  }
  return command.run(rest, io)
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

${name} COMMAND --help tells more about one. ${name} --version shows the version.
`
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
