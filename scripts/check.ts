// Checks the code without running it:  npm run check
//
// Each tool prints one line, and more only if it reports something.

import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'

const root = dirname(import.meta.dirname)
const binaries = join(root, 'node_modules', '.bin')

const hasColors = process.stdout.isTTY && !process.env['NO_COLOR']
const colorFlags = hasColors ? { biome: ['--colors=force'], tsc: ['--pretty'] } : null

const memory = ['--tsBuildInfoFile', join(root, 'node_modules/.cache/portcullis-check.tsbuildinfo')]

// Each checker infers shared types again, and the other tools need cores too.
const checkers = ['--checkers', `${Math.min(4, Math.ceil(availableParallelism() / 2))}`]

/** What a tool checks, and how it is called. */
interface Check {
  readonly name: string
  readonly subject: string
  /** The tool and its arguments. A tool without a path is a dependency. */
  readonly command: readonly string[]
}

const types: Check = {
  name: 'TypeScript',
  subject: 'types of everything',
  // It stores its results, so the next run checks only what has changed.
  command: [
    ...['tsc', '--noEmit', '-p', '.', '--incremental', ...memory, ...checkers],
    ...(colorFlags?.tsc ?? []),
  ],
}

const style: Check = {
  name: 'Biome',
  subject: 'format, import order',
  command: ['biome', 'check', '--error-on-warnings', ...(colorFlags?.biome ?? []), '.'],
}

const boundaries: Check = {
  name: 'boundaries',
  subject: 'allowed imports, import cycles, the environment',
  command: [process.execPath, join(import.meta.dirname, 'boundaries/check.ts')],
}

const words: Check = {
  name: 'words',
  subject: 'phrases that are hard to understand',
  command: [process.execPath, join(import.meta.dirname, 'words/check.ts')],
}

const bugs: Check = {
  name: 'oxlint',
  subject: 'bugs, import cycles, accessibility',
  command: [
    ...['oxlint', '--deny-warnings', '--report-unused-disable-directives'],
    ...['packages', 'scripts', 'site', 'examples'],
  ],
}

const promises: Check = {
  name: 'oxlint',
  subject: 'promises and switches in src',
  // These rules need types, which are expensive to load. Tests have floating promises on purpose.
  command: [
    ...['oxlint', '--config', '.oxlintrc.types.json', '--type-aware', '--deny-warnings'],
    ...findSources(),
  ],
}

function findSources(): string[] {
  return globSync('packages/*/src', { cwd: root }).sort()
}

// tsc and the type-aware part of oxlint are short-lived Go programs: without garbage collection they
// need a fifth less CPU time. It starts when they have used the memory that the limit allows.
const env = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env }

async function runCheck({ name, subject, command: [tool = '', ...args] }: Check): Promise<boolean> {
  const start = performance.now()
  const child = spawn(resolve(binaries, tool), args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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

async function runInTurn(checks: readonly Check[]): Promise<boolean> {
  let areFine = true
  for (const check of checks) areFine = (await runCheck(check)) && areFine
  return areFine
}

// TypeScript takes longest and mostly uses one core. The other tools use every core, so running
// them at the same time would only slow them all down.
const outcomes = await Promise.all([
  runInTurn([types]),
  runInTurn([style, boundaries, words, bugs, promises]),
])
process.exitCode = outcomes.every(Boolean) ? 0 : 1
