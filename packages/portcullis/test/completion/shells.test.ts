import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { provideOrSkip, runOnTerminal, runOrSkip } from '@portcullis/test-servers'
import { createPrograms } from '../../src/commands/completion.ts'
import { createCommands } from '../../src/commands/index.ts'
import type { CommandNode } from '../../src/completion/command-tree.ts'
import { graphqlTree } from '../../src/completion/programs/graphql.ts'
import { shells } from '../../src/completion/shells/index.ts'
import { queries } from './support/query.ts'

const programs = createPrograms(createCommands('1.2.3'))
const portcullisTree = (await programs['portcullis']?.()) as CommandNode

/** An input line, and what every shell offers for its last word. */
const cases: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['portcullis ', Object.keys(portcullisTree.commands ?? {})],
  ['portcullis auth ad', ['admin']],
  ['portcullis auth admin createuser --c', ['--config', '--config-dir', '--confirm']],
  ['portcullis auth admin --config x.env ban', ['banuser']],
  ['portcullis ratelimit client -grpc-c', ['-grpc-cert-file']],
  ['portcullis ratelimit client -domain ', []],
  ['portcullis graphql audit --profile ', ['2026', 'classic']],
  ['portcullis up --only auth,ra', ['ratelimit']],
  ['portcullis completion ', ['bash', 'fish', 'zsh']],
  ['portcullis auth serve --config fo', ['folder', 'fork.env']],
  ['portcullis auth serve --config-dir fo', ['folder']],
  ['portcullis ratelimit serve --rules fo', ['folder']],
  ['portcullis ratelimit check fo', ['folder']],
]

async function provideShell(t: TestContext, name: string): Promise<string | undefined> {
  if (name !== 'zsh' && name !== 'fish') return name
  // zsh completes only lines that are typed on a terminal.
  const hasTerminal = name !== 'zsh' || (await runOrSkip(t, () => runOnTerminal('true', [], {})))
  return hasTerminal === undefined ? undefined : provideOrSkip(t, name)
}

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-completion-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'fork.env'), '')
  return folder
}

for (const [name, toScript] of Object.entries(shells)) {
  test(`${name} completes commands, options, files and choices`, async (t) => {
    const shell = await provideShell(t, name)
    if (shell === undefined) return
    const question = {
      script: toScript('portcullis', portcullisTree),
      folder: openFolder(t),
      lines: cases.map(([line]) => line),
    }
    const answers = await queries[name]?.(shell, question)
    const offered = cases.map(([line], index) => [
      line,
      (answers?.[index] ?? []).map(toTail).sort(),
    ])
    assert.deepEqual(
      offered,
      cases.map(([line, words]) => [line, [...words].sort()]),
    )
  })

  test(`${name} completes a program whose name is not a valid function name`, async (t) => {
    const shell = await provideShell(t, name)
    if (shell === undefined) return
    const program = 'graphql-over-http'
    const script = toScript(program, graphqlTree)
    const question = { script, folder: openFolder(t), lines: [`${program} `] }
    assert.deepEqual(await queries[name]?.(shell, question), [['audit']])
  })
}

/** Shells differ in whether they repeat the text before a comma, and in how they mark folders. */
function toTail(word: string): string {
  return word.replace(/^.*,/, '').replace(/\/$/, '')
}
