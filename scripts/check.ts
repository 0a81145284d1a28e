// Checks the code without running it:  npm run check
//
// Three tools at once; each tells more only when it finds something.

import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'

const root = dirname(import.meta.dirname)
const binaries = join(root, 'node_modules', '.bin')

const hasColors = process.stdout.isTTY && !process.env['NO_COLOR']
const colorFlags = hasColors ? { biome: ['--colors=force'], tsc: ['--pretty'] } : null

const memory = ['--tsBuildInfoFile', join(root, 'node_modules/.cache/portcullis-check.tsbuildinfo')]

// Each of its checkers works out the types that they share anew. The other tools need cores too.
const checkers = ['--checkers', `${Math.min(4, Math.ceil(availableParallelism() / 2))}`]

/** Name, what it looks after, and how it is called. */
const checks = [
  {
    name: 'Biome',
    subject: 'format, lint, import boundaries, names',
    command: ['biome', 'check', '--error-on-warnings', ...(colorFlags?.biome ?? []), '.'],
  },
  {
    name: 'TypeScript',
    subject: 'types of everything',
    // What it learned it writes down: the next time it looks only at what has changed.
    command: [
      ...['tsc', '--noEmit', '-p', '.', '--incremental', ...memory, ...checkers],
      ...(colorFlags?.tsc ?? []),
    ],
  },
  {
    // Biome misses floating promises whose types come from a package, and tests float on purpose.
    name: 'oxlint',
    subject: 'promises and switches in src',
    command: ['oxlint', '--type-aware', '--deny-warnings', ...findSources()],
  },
]

function findSources(): string[] {
  return globSync('packages/*/src', { cwd: root }).sort()
}

async function runCheck({ name, subject, command: [tool = '', ...args] }: (typeof checks)[number]) {
  const start = performance.now()
  const child = spawn(join(binaries, tool), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((done) => {
    child.on('error', () => done(null))
    child.on('close', (code) => done(code))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  const isFine = code === 0
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const mark = isFine ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${name} (${subject})  ${seconds} s`)
  if (!isFine) console.log(`${stdout}${stderr}`.trimEnd())
  return isFine
}

const outcomes = await Promise.all(checks.map(runCheck))
process.exitCode = outcomes.every(Boolean) ? 0 : 1
