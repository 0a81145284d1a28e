// Checks the code without running it:  npm run check
//
// Each tool prints one line, and more only if it reports something.

import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'

const root = dirname(import.meta.dirname)
const binaries = join(root, 'node_modules', '.bin')

const hasColors = process.stdout.isTTY && !process.env['NO_COLOR']

/** TypeScript takes as long as all others together, and mostly uses one core, which the others leave to it. */
const otherThreads = `${Math.max(1, availableParallelism() - 1)}`

/** What a tool checks, and how it is called. */
interface Check {
  readonly name: string
  readonly subject: string
  /** The tool and its arguments. A tool without a path is a dependency. */
  readonly command: readonly string[]
}

const folders = ['packages', 'scripts', 'site', 'examples']

const types: Check = {
  name: 'TypeScript',
  subject: 'types of everything, promises and switches in src',
  // oxlint contains the compiler, and its rules use the types that the compiler has inferred. tsc and oxlint,
  // one after the other, would infer all types of src twice.
  command: [
    ...['oxlint', '--config', '.oxlintrc.types.json', '--type-aware', '--type-check'],
    ...['--deny-warnings', '--format', 'unix', ...folders],
  ],
}

const style: Check = {
  name: 'Biome',
  subject: 'format, import order',
  command: ['biome', 'check', '--error-on-warnings', ...(hasColors ? ['--colors=force'] : []), '.'],
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
    ...['--threads', otherThreads, ...folders],
  ],
}

// The compiler is a short-lived Go program: without garbage collection it needs a fifth less CPU time. The
// collection starts when the program has used the memory that the limit allows.
const env = { GOGC: 'off', GOMEMLIMIT: '3GiB', BIOME_THREADS: otherThreads, ...process.env }

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

const outcomes = await Promise.all([
  runInTurn([types]),
  runInTurn([style, boundaries, words, bugs]),
])
process.exitCode = outcomes.every(Boolean) ? 0 : 1
