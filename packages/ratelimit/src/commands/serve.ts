import { basename, dirname, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { toArgumentError, toArgumentFault } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { createLog } from '@portcullis/service-kit/log/log'
import { openLogOutput } from '@portcullis/service-kit/log/log-output'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { toHelpText } from '@portcullis/service-kit/settings/settings-help'
import { type Config, chapters, parseConfig } from '../config/config.ts'

export const serve: Command = {
  summary: 'run the service',
  get usage() {
    return `Usage: ratelimit serve [--rules DIR]

Runs the service until a signal stops it. Settings come from environment
variables; by default, counters are kept in this process and rules are read from
/srv/runtime_data/current/config.

Options:
  --rules DIR  read the *.yaml files in this folder and watch them for
               changes; replaces RUNTIME_ROOT, RUNTIME_SUBDIRECTORY,
               RUNTIME_APPDIRECTORY and RUNTIME_WATCH_ROOT

Exit codes: 0 after a shutdown by a signal, 1 on failure, 2 for invalid
arguments or an invalid environment.

${toEnvironmentHelp()}`
  },
  run,
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const fromArguments = readArguments(args, io)
  if (fromArguments === undefined) return 2
  const { config, faults, notes } = parseConfig(io.env, fromArguments)
  if (faults.length > 0) {
    // A misspelled variable is only a warning, but it may be the cause of an error.
    const warnings = notes.map((note) => `warning: ${note}\n`).join('')
    const lines = faults.map((fault) => `  ${toFaultText(fault)}\n`).join('')
    io.stderr.write(`${warnings}The environment is invalid:\n${lines}`)
    return 2
  }
  // Writes go directly to the file descriptor: with a stream, a full pipe would block decisions.
  using output = openLogOutput({ fd: 2, format: config.log.format })
  const log = createLog({ ...config.log, write: (line) => output.write(line) })
  for (const note of notes) log.warning(note)

  const lifecycle = openLifecycle({ ...toLifecycleSettings(config), log, process })
  try {
    const open = await loadService(config)
    await open({ config, log, lifecycle, now: Date.now })
  } catch (error) {
    // Stopping a service during startup closes what it waits for, so an error is expected then.
    if (!lifecycle.stopping.aborted) lifecycle.fail(error)
  }
  return await lifecycle.ended
}

/**
 * Loads only what is needed: a primary process, which accepts connections for its workers, needs little of
 * the service.
 */
async function loadService({ workers }: Config) {
  if (workers === 1) return (await import('../app/app.ts')).openApp
  return (await import('../workers/primary.ts')).openPrimary
}

/** How long workers may exceed their own drain timeout before they are killed. */
const workerMarginMs = 7_000

function toLifecycleSettings({ lifecycle, workers }: Config) {
  const margin = workers === 1 ? 0 : workerMarginMs
  return { ...lifecycle, drainTimeoutMs: lifecycle.drainTimeoutMs + margin }
}

/** Returns the variables that the arguments set, or undefined when the arguments are invalid. */
function readArguments(args: readonly string[], io: CommandIo): CommandIo['env'] | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { rules: { type: 'string' } } })
    if (values.rules === undefined) return {}
    const directory = resolve(values.rules)
    return {
      RUNTIME_ROOT: dirname(directory),
      RUNTIME_SUBDIRECTORY: '',
      RUNTIME_APPDIRECTORY: basename(directory),
      RUNTIME_WATCH_ROOT: 'false',
    }
  } catch (error) {
    io.stderr.write(toArgumentError('ratelimit serve', toArgumentFault(error)))
    return undefined
  }
}

/** The part of `serve --help` about environment variables. */
export function toEnvironmentHelp(): string {
  return `Environment variables, with their defaults:\n\n${toHelpText(chapters)}`
}
