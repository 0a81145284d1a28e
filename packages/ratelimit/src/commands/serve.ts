import { basename, dirname, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { Command, CommandIo } from '@portcullis/service-kit/command'
import { toFaultText } from '@portcullis/service-kit/env'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { toHelpText } from '@portcullis/service-kit/settings-help'
import { type Config, chapters, parseConfig } from '../config/config.ts'

export const serve: Command = {
  summary: 'run the service',
  get usage() {
    return `Usage: ratelimit serve [--rules DIRECTORY]

Runs the service until a signal stops it. Settings come from the environment; without any, counters
live in this process and rules are read from /srv/runtime_data/current/config.

Options:
  --rules DIRECTORY  read the *.yaml files of this directory and watch them for changes; in place of
                     RUNTIME_ROOT and the other RUNTIME_ variables

${toEnvironmentHelp()}`
  },
  run,
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const env = readArguments(args, io)
  if (env === undefined) return 2
  const { config, faults, notes } = parseConfig(env)
  if (faults.length > 0) {
    const lines = faults.map((fault) => `  ${toFaultText(fault)}\n`).join('')
    io.stderr.write(`The service cannot start: the environment is not right.\n${lines}`)
    return 2
  }
  // Straight to the descriptor: a full pipe must not stop decisions, as the stream would.
  using output = openLogOutput({ fd: 2, format: config.log.format })
  const log = createLog({ ...config.log, write: (line) => output.write(line) })
  for (const note of notes) log.warning(note)

  const lifecycle = openLifecycle({ ...toLifecycleSettings(config), log, process })
  try {
    const open = await loadService(config)
    await open({ config, log, lifecycle, now: Date.now })
  } catch (error) {
    // Whoever stops a service that still starts has closed what it waits for.
    if (!lifecycle.stopping.aborted) lifecycle.fail(error)
  }
  return await lifecycle.ended
}

/** Loaded when it is known which: the process that accepts for others needs little of the service. */
async function loadService({ workers }: Config) {
  if (workers === 1) return (await import('../app/app.ts')).openApp
  return (await import('../workers/primary.ts')).openPrimary
}

/** How much longer than their own time workers get before they are killed. */
const workerMarginMs = 7_000

function toLifecycleSettings({ lifecycle, workers }: Config) {
  const margin = workers === 1 ? 0 : workerMarginMs
  return { ...lifecycle, drainTimeoutMs: lifecycle.drainTimeoutMs + margin }
}

/** The environment with what the arguments say; undefined when they make no sense. */
function readArguments(args: readonly string[], io: CommandIo): CommandIo['env'] | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { rules: { type: 'string' } } })
    if (values.rules === undefined) return io.env
    const directory = resolve(values.rules)
    return {
      ...io.env,
      RUNTIME_ROOT: dirname(directory),
      RUNTIME_SUBDIRECTORY: '',
      RUNTIME_APPDIRECTORY: basename(directory),
      RUNTIME_WATCH_ROOT: 'false',
    }
  } catch {
    io.stderr.write('The only option is --rules DIRECTORY. See: ratelimit serve --help\n')
    return undefined
  }
}

/** What `serve --help` says about the environment. */
export function toEnvironmentHelp(): string {
  return `Environment variables, with their defaults:\n\n${toHelpText(chapters)}`
}
