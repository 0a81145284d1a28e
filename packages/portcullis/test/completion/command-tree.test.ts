import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dispatch, type Program } from '@portcullis/service-kit/dispatch'
import { commands as authCommands } from '../../../auth/src/commands/index.ts'
import { commands as ratelimitCommands } from '../../../ratelimit/src/commands/index.ts'
import { createCompletion, createPrograms } from '../../src/commands/completion.ts'
import { createCommands } from '../../src/commands/index.ts'
import type { CommandNode } from '../../src/completion/command-tree.ts'
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
  portcullis: ['up', 'console', 'completion'],
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
  [[], /^Name one shell: bash, zsh, fish\.\n\nUsage:/],
  [['tcsh'], /^Unknown shell "tcsh"\. Supported shells: bash, zsh, fish\./],
  [['bash', '--for', 'npm'], /^Unknown program "npm"\. Known programs: portcullis, auth,/],
] as const) {
  test(`portcullis completion ${args.join(' ')} reports the error`, async () => {
    let output = ''
    const stderr = { write: (text: string) => (output += text) }
    const io = { stdout: process.stdout, stderr, env: {}, isTerminal: false }
    assert.equal(await createCompletion(ownCommands).run(args, io), 2)
    assert.match(output, reason)
  })
}

/** Includes the options of subcommands, which have no help page of their own. */
function toFlags({ options = [], commands = {} }: CommandNode): Set<string> {
  const below = Object.values(commands).flatMap((command) => [...toFlags(command)])
  return new Set([...options.flatMap(({ flags }) => flags), ...below])
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
