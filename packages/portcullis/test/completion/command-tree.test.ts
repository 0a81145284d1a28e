import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dispatch, type Program } from '@portcullis/service-kit/cli/dispatch'
import { commands as authCommands } from '../../../auth/src/commands/index.ts'
import { commands as ratelimitCommands } from '../../../ratelimit/src/commands/index.ts'
import { createCompletion, createPrograms } from '../../src/commands/completion.ts'
import { otherPrograms } from '../../src/commands/hand-over.ts'
import { createCommands } from '../../src/commands/index.ts'
import type { CommandNode, CommandOption } from '../../src/completion/command-tree.ts'
import { shells } from '../../src/completion/shells/index.ts'

const run = promisify(execFile)
const packages = join(import.meta.dirname, '../../..')

const version = '1.2.3'

const ownCommands = createCommands(version)
const programs: Readonly<Record<string, CommandNode>> = Object.fromEntries(
  await Promise.all(
    Object.entries(createPrograms(ownCommands)).map(
      async ([name, load]) => [name, await load()] as const,
    ),
  ),
)

/** The commands of each program, as registered in its main file. */
const registries: Readonly<Record<string, Program['commands']>> = {
  portcullis: ownCommands,
  auth: authCommands(version),
  ratelimit: ratelimitCommands,
}

/** The commands that have their own help page. */
const documented: Readonly<Record<string, readonly string[]>> = {
  portcullis: Object.keys(ownCommands).filter((name) => !(name in otherPrograms)),
  auth: Object.keys(programs['auth']?.commands ?? {}),
  ratelimit: Object.keys(programs['ratelimit']?.commands ?? {}),
  'graphql-over-http': ['audit'],
}

/** Returns the help text without starting a process; other tests cover the output of each program. */
async function readHelp(program: string, ...args: string[]): Promise<string> {
  const commands = registries[program]
  if (commands === undefined) return (await runSource('graphql-over-http/src/cli', args)).stdout
  let printed = ''
  const stdout = { write: (text: string) => (printed += text) }
  const io = { stdout, stderr: process.stderr, env: {}, isTerminal: false }
  const code = await dispatch({ name: program, version, summary: '', commands }, args, io)
  assert.equal(code, 0)
  return printed
}

function runSource(folder: string, args: readonly string[]) {
  return run(process.execPath, [join(packages, folder, 'main.ts'), ...args])
}

for (const [program, names] of Object.entries(documented)) {
  const tree = programs[program]
  assert.ok(tree)

  for (const name of names) {
    test(`the completion of ${program} ${name} has the options that --help lists`, async () => {
      const command = tree.commands?.[name]
      assert.ok(command)
      assert.deepEqual(
        [...toFlags(command)].sort(),
        [...readFlags(await readHelp(program, name, '--help'))].sort(),
      )
    })
  }
}

for (const [program, names] of Object.entries(documented)) {
  for (const name of names) {
    test(`the shells know which options of ${program} ${name} take a value`, async () => {
      const command = programs[program]?.commands?.[name]
      assert.ok(command)
      const written = readValues(await readHelp(program, name, '--help'))
      const known = listOptions(command).flatMap(({ flags, value }) =>
        flags.map((flag) => [flag, value !== undefined] as const),
      )
      for (const [flag, takesValue] of known) assert.equal(written.get(flag), takesValue, flag)
    })
  }
}

for (const name of ['admin', 'keys']) {
  test(`the shells know the verbs of auth ${name}, and the options of each`, async () => {
    const help = await readHelp('auth', name, '--help')
    const verbs = [...help.matchAll(/^ {2}(\w+)(.*)\n {6}\S/gm)].map(([, verb = '', rest = '']) => [
      verb,
      [...rest.matchAll(/--[\w-]+/g)].map(([flag]) => flag).sort(),
    ])
    const command = programs['auth']?.commands?.[name]
    const common = new Set((command?.options ?? []).flatMap(({ flags }) => flags))
    const known = Object.entries(command?.commands ?? {}).map(([verb, { options = [] }]) => [
      verb,
      options
        .flatMap(({ flags }) => flags)
        .filter((flag) => !common.has(flag))
        .sort(),
    ])
    assert.deepEqual(Object.fromEntries(known), Object.fromEntries(verbs))
  })
}

for (const program of ['portcullis', 'auth', 'ratelimit']) {
  test(`the completion of ${program} has the commands that --help lists`, async () => {
    const listed = (await readHelp(program, '--help')).matchAll(/^ {2}(\S+) +(.+)$/gm)
    const known = Object.entries(programs[program]?.commands ?? {})
    assert.deepEqual(
      known.map(([name, { summary }]) => [name, summary]),
      [...listed].map(([, name, summary]) => [name, summary]),
    )
  })
}

test('portcullis completion prints the script for a shell', async () => {
  const args = ['completion', 'fish', '--for', 'auth']
  const { stdout } = await runSource('portcullis/src', args)
  assert.equal(stdout, shells['fish']?.('auth', programs['auth'] as CommandNode))
})

for (const [args, reason] of [
  [[], /^The shell is missing\. Shells: bash, zsh, fish\.\nSee: portcullis completion --help\n$/],
  [['bash', 'zsh'], /^Unexpected argument "zsh": completion takes one shell\.\nSee: /],
  [['bash', '--nope'], /^Unknown option --nope\.\nSee: /],
  [['tcsh'], /^Unknown shell "tcsh"\. Shells: bash, zsh, fish\./],
  [['bash', '--for', 'npm'], /^Unknown program "npm"\. Programs: portcullis, auth,/],
] as const) {
  test(`portcullis completion ${args.join(' ')} reports the error`, async () => {
    let output = ''
    const stderr = { write: (text: string) => (output += text) }
    const io = { stdout: process.stdout, stderr, env: {}, isTerminal: false }
    assert.equal(await createCompletion(ownCommands).run(args, io), 2)
    assert.match(output, reason)
  })
}

/** Includes the options of subcommands, which have no separate help page. */
function listOptions({ options = [], commands = {} }: CommandNode): readonly CommandOption[] {
  return [...options, ...Object.values(commands).flatMap(listOptions)]
}

function toFlags(command: CommandNode): Set<string> {
  return new Set(listOptions(command).flatMap(({ flags }) => flags))
}

/** Whether a placeholder follows each flag, in the lines about options and in synopses. */
function readValues(help: string): Map<string, boolean> {
  const heads = [...help.matchAll(/^ {2}(-(?: ?[^ ]+)*)/gm)].map(([, head = '']) => head.split(' '))
  const optional = [...help.matchAll(/\[(--?[\w-]+)( [^\]]+)?\]/g)].map(([, flag = '', value]) =>
    value === undefined ? [flag] : [flag, value],
  )
  return new Map(
    [...optional, ...heads].flatMap((words) => {
      const flags = words.filter((word) => word.startsWith('-'))
      return flags.map((flag) => [flag.replace(',', ''), flags.length < words.length] as const)
    }),
  )
}

/** Finds options at the start of lines, and in brackets in synopses. */
function readFlags(help: string): Set<string> {
  const heads = [...help.matchAll(/^ {2}(-(?: ?[^ ]+)*)/gm)].flatMap(([, head = '']) =>
    toWords(head),
  )
  const optional = [...help.matchAll(/\[(--?[\w-]+)/g)].map(([, flag = '']) => flag)
  const common = ['-h', '--help', '--version']
  return new Set([...heads, ...optional].filter((flag) => !common.includes(flag)))
}

function toWords(head: string): string[] {
  return head.split(/[ ,]+/).filter((word) => word.startsWith('-'))
}
