// Tests the two commands of the README on a minimal Debian system that has only Node and npm:
//
//   npm run bare-system                                        root and an ordinary user, both commands
//   npm run bare-system -- --user ordinary --command test      one user, one command
//   npm run bare-system -- --keep                              keep the systems for inspection
//
// It runs the committed state (HEAD). Each user gets a separate system, so that packages installed
// by root do not help the ordinary user. Run it before each release and whenever the setup changes.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  toArgumentError,
  toArgumentFault,
  toValueFault,
} from '@portcullis/service-kit/cli/argument-faults'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { type BareSystem, openBareSystem } from './bare-system/bare-system.ts'
import { provideBase } from './bare-system/base.ts'
import { type CommandName, proofs } from './bare-system/commands.ts'
import { readMachine } from './bare-system/machine.ts'
import { toEnterScript } from './bare-system/process.ts'
import { type UserName, users } from './bare-system/users.ts'

const usage = `Usage: npm run bare-system -- [OPTION…]

Tests the two commands of the README on a minimal Debian system that has only
Node and npm. It needs root, because it mounts file systems.

Options:
  --user NAME     ${Object.keys(users).join(' or ')}; default: both
  --command NAME  ${Object.keys(proofs).join(' or ')}; default: both
  --keep          keep the systems for inspection
  --help          show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

interface Row {
  readonly user: UserName
  readonly command: CommandName
  readonly seconds: number
  /** Undefined if the command passed. */
  readonly failure: string | undefined
}

const options = readOptions()
if (process.getuid?.() !== 0) endWith('bare-system needs root: it mounts file systems.', 2)

const cache = join(import.meta.dirname, '..', '.cache', 'bare-system')
mkdirSync(cache, { recursive: true })
const machine = await readMachine()
const base = await provideBase(cache, machine)

const rows: Row[] = []
for (const user of options.users) await proveFor(user)
printTable()
process.exitCode = rows.some(({ failure }) => failure !== undefined) ? 1 : 0

async function proveFor(user: UserName): Promise<void> {
  const system = await openBareSystem({ base, machine, user })
  const stop = () => {
    // The folder is removed even on a signal, because it is as large as a system.
    system.killAll()
    if (!options.isKept) system.removeAtOnce()
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  try {
    for (const command of options.commands) rows.push(await prove(system, user, command))
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop)
    if (options.isKept) {
      const script = join(cache, `enter-${user}.sh`)
      writeFileSync(script, toEnterScript(system), { mode: 0o755 })
      console.log(`Kept ${system.folder}; ${script} [COMMAND…] enters it.`)
    } else {
      await system.remove()
    }
  }
}

async function prove(system: BareSystem, user: UserName, command: CommandName): Promise<Row> {
  const logFile = join(cache, `${user}-${command}.log`)
  console.log(`npm ${command} as ${user === 'root' ? 'root' : 'an ordinary user'} (${logFile})…`)
  const start = performance.now()
  const failure = await proofs[command](system, logFile).then(
    () => undefined,
    (error: unknown) => toMessage(error),
  )
  const seconds = (performance.now() - start) / 1000
  console.log(failure === undefined ? `Passed in ${seconds.toFixed(0)} s.` : `Failed: ${failure}`)
  return { user, command, seconds, failure }
}

function printTable(): void {
  console.log('\nuser      command    result  duration')
  for (const { user, command, seconds, failure } of rows) {
    const result = failure === undefined ? 'passed' : 'failed'
    const duration = `${seconds.toFixed(0)} s`.padStart(8)
    console.log(`${user.padEnd(8)}  ${`npm ${command}`.padEnd(9)}  ${result}  ${duration}`)
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        user: { type: 'string' },
        command: { type: 'string' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) endWith(usage, 0)
    return {
      users: choose(users, 'user', values.user),
      commands: choose(proofs, 'command', values.command),
      isKept: values.keep,
    }
  } catch (error) {
    return endWith(toArgumentError('npm run bare-system --', toArgumentFault(error)).trimEnd(), 2)
  }
}

function choose<Name extends string>(
  known: Readonly<Record<Name, unknown>>,
  option: string,
  chosen: string | undefined,
): readonly Name[] {
  const names = Object.keys(known) as Name[]
  const found = chosen === undefined ? names : names.filter((name) => name === chosen)
  if (chosen !== undefined && found.length === 0) {
    throw new Error(toValueFault(`--${option}`, names.join(' or '), chosen))
  }
  return found
}

function endWith(message: string, code: number): never {
  const print = code === 0 ? console.log : console.error
  print(message)
  process.exit(code)
}
