import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { CommandNode } from '../../src/completion/command-tree.ts'
import { programs } from '../../src/completion/programs/portcullis.ts'
import { shells } from '../../src/completion/shells/index.ts'

const run = promisify(execFile)
const packages = join(import.meta.dirname, '../../..')

/** Where each program is, and which of its commands have a help of their own. */
const sources: Readonly<Record<string, { readonly main: string; readonly own: string[] }>> = {
  portcullis: { main: 'portcullis/src/main.ts', own: ['up', 'console', 'completion'] },
  auth: { main: 'auth/src/main.ts', own: Object.keys(programs['auth']?.commands ?? {}) },
  ratelimit: {
    main: 'ratelimit/src/main.ts',
    own: Object.keys(programs['ratelimit']?.commands ?? {}),
  },
  'graphql-over-http': { main: 'graphql-over-http/src/cli/main.ts', own: ['audit'] },
}

async function runProgram(program: string, ...args: string[]): Promise<string> {
  const main = join(packages, sources[program]?.main ?? '')
  return (await run(process.execPath, [main, ...args])).stdout
}

for (const [program, { own }] of Object.entries(sources)) {
  const tree = programs[program]
  assert.ok(tree)

  for (const name of own) {
    test(`the shells know the options that ${program} ${name} --help names`, async () => {
      const command = tree.commands?.[name]
      assert.ok(command)
      assert.deepEqual(
        [...toFlags(command)].sort(),
        [...readFlags(await runProgram(program, name, '--help'))].sort(),
      )
    })
  }
}

for (const program of ['portcullis', 'auth', 'ratelimit']) {
  test(`the shells know the commands that ${program} --help lists`, async () => {
    const listed = (await runProgram(program, '--help')).matchAll(/^ {2}(\S+) +(.+)$/gm)
    const known = Object.entries(programs[program]?.commands ?? {})
    assert.deepEqual(
      known.map(([name, { summary }]) => [name, summary]),
      [...listed].map(([, name, summary]) => [name, summary]),
    )
  })
}

test('portcullis completion prints the script of a shell', async () => {
  const script = await runProgram('portcullis', 'completion', 'fish', '--for', 'auth')
  assert.equal(script, shells['fish']?.('auth', programs['auth'] as CommandNode))
})

for (const [args, reason] of [
  [[], /^Name one shell: bash, zsh, fish\.\n\nUsage:/],
  [['tcsh'], /^There is no completion for "tcsh"; there is one for: bash, zsh, fish\./],
  [['bash', '--for', 'npm'], /^There is no program "npm"; there are: portcullis, auth,/],
] as const) {
  test(`portcullis completion ${args.join(' ')} says what is wrong`, async () => {
    await assert.rejects(runProgram('portcullis', 'completion', ...args), (error: unknown) => {
      assert.ok(error instanceof Error && 'stderr' in error && 'code' in error)
      assert.equal(error.code, 2)
      assert.match(String(error.stderr), reason)
      return true
    })
  })
}

/** Its own, and those of commands below it: they have no help of their own. */
function toFlags({ options = [], commands = {} }: CommandNode): Set<string> {
  const below = Object.values(commands).flatMap((command) => [...toFlags(command)])
  return new Set([...options.flatMap(({ flags }) => flags), ...below])
}

/** From lines about an option, and from brackets in synopses. */
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
