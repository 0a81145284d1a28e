import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { createLog, type Log } from '@portcullis/service-kit/log/log'
import { openLogOutput } from '@portcullis/service-kit/log/log-output'
import { type Lifecycle, openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import { letYoungSpaceGrow } from '@portcullis/service-kit/process/young-space'
import { readSettings } from '@portcullis/service-kit/settings/env'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { AppSettings } from '../app.ts'
import { type Config, chapters } from '../config/config.ts'
import { migrate } from '../db/migrate/migrate.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { explainFailure } from '../explain-failure.ts'
import { createHangups, type Hangups } from '../reloading/hangups.ts'
import { openReloading } from '../reloading/open-reloading.ts'
import type { PrimarySettings } from '../workers/primary.ts'
import { openDatabaseUrl } from './open-database-url.ts'
import {
  type ConfigPlaces,
  configHelp,
  type LoadedConfig,
  listConfigFolders,
  loadConfig,
  readConfig,
  readOptions,
  toEnvironmentHelp,
} from './read-config.ts'

/** @param migrates whether to migrate the tables first. */
export function createServe(version: string, migrates: boolean): Command {
  const name = migrates ? 'up' : 'serve'
  const summary = migrates ? 'migrate, then serve' : 'serve without migrating'
  const usage = `Usage: auth ${name} [--config FILE] [--config-dir DIR]

Runs the server until a signal stops it${migrates ? '. It migrates the tables first' : ''}.
SIGHUP, and a change of a configuration file, reload the configuration without
a restart.

Options:
${configHelp}

Exit codes: 0 after a shutdown by a signal, 1 on failure, 2 for invalid
arguments or an invalid configuration.
`

  async function run(args: readonly string[], io: CommandIo): Promise<number> {
    const options = readOptions(args, io, `auth ${name}`)
    const read = options && readConfig(io, options.values)
    if (read === undefined) return 2
    const { config, notes, remarks } = read
    const { logFile, logLevel } = config.observability
    using file = openLogFile(io, logFile)
    if (file === undefined) return 2
    // Written directly to the descriptor: a full pipe must not block requests, as the stream would.
    using output = openLogOutput({ fd: file.fd, format: 'logrus' })
    const log = createLog({
      level: logLevel,
      format: 'logrus',
      write: (line) => output.write(line),
    })
    for (const note of notes) log.warning(note)
    for (const remark of remarks) log.info(remark)

    const hangups = createHangups()
    const lifecycle = openLifecycle({
      log,
      process,
      onHangup: () => hangups.take(),
      drainDelayMs: 0,
      drainTimeoutMs: config.api.drainTimeoutMs + (config.workers === 1 ? 0 : workerMarginMs),
    })
    try {
      const { url: databaseUrl, maxConnections } = lifecycle.own(
        'PostgreSQL',
        await openDatabaseUrl(config.database.url, log),
      )
      if (migrates) {
        await migrate({
          url: databaseUrl,
          schema: config.database.namespace,
          ...config.migrations,
          onApplied: (applied) => log.info(`Applied migration ${applied}`),
          onRepaired: (object) => log.warning(`Repaired the ${object}`),
          onProgress: (message) => log.info(message),
        })
      }
      await checkSchema({ url: databaseUrl, schema: config.database.namespace, log })
      const open = await loadServer(config)
      const apply = await open({
        config,
        version,
        databaseUrl,
        ...(maxConnections !== undefined && { maxConnections }),
        log,
        logFd: file.fd,
        lifecycle,
      })
      openReloads({
        read,
        places: options?.values ?? {},
        env: io.env,
        apply,
        log,
        lifecycle,
        hangups,
      })
      letYoungSpaceGrow()
    } catch (error) {
      // If the server is stopped while it starts, errors come from resources that were closed.
      if (!lifecycle.stopping.aborted)
        lifecycle.fail(new Error(explainFailure(error, config.api.host), { cause: error }))
    }
    return await lifecycle.ended
  }

  return {
    summary,
    get usage() {
      return `${usage}\n${toEnvironmentHelp()}`
    },
    run,
  }
}

/** Workers are killed this much later than their own shutdown limit. */
const workerMarginMs = 7_000

type Apply = (config: Config) => Promise<void>

/** Loaded on demand, because the primary process needs only a small part of the server. */
async function loadServer({ workers }: Config): Promise<(start: ServerStart) => Promise<Apply>> {
  if (workers === 1) {
    const { openApp } = await import('../app.ts')
    return async (start) => {
      const { prepare } = await openApp(start)
      return async (config) => (await prepare(config)).commit()
    }
  }
  const { openPrimary } = await import('../workers/primary.ts')
  return async (start) => (await openPrimary(start)).reload
}

type ServerStart = AppSettings & PrimarySettings

interface ReloadsSettings {
  readonly read: Omit<LoadedConfig, 'faults'>
  readonly places: ConfigPlaces
  readonly env: CommandIo['env']
  readonly apply: Apply
  readonly log: Log
  readonly lifecycle: Lifecycle
  readonly hangups: Hangups
}

/** Reloads the configuration after signals and changes of its files. */
function openReloads(settings: ReloadsSettings): void {
  const { read, places, env, log, lifecycle, hangups } = settings
  const keyFile = readSettings(chapters, ...read.sources).settings.secrets.file
  const reloading = lifecycle.own(
    'reloading',
    openReloading({
      started: { ...read, faults: [] },
      load: () => loadConfig(env, places),
      folders: listConfigFolders(places, keyFile || undefined),
      async apply(config) {
        // A server that stops keeps its configuration.
        if (!lifecycle.stopping.aborted) await settings.apply(config)
      },
      log,
    }),
  )
  const onSignal = (name: string) => {
    log.info(`Received ${name}: reloading the configuration`)
    reloading.reload()
  }
  hangups.attach(() => onSignal('SIGHUP'))
  const { signal } = read.config.reloading
  if (signal === undefined || signal === 'SIGHUP') return
  const listener = () => onSignal(signal)
  process.on(signal, listener)
  lifecycle.own('reload signal', { [Symbol.dispose]: () => process.off(signal, listener) })
}

export interface LogFile extends Disposable {
  readonly fd: number
}

/**
 * Standard error if no file is configured. Undefined if the file cannot be opened, after printing
 * the error.
 */
function openLogFile({ stderr }: CommandIo, path: string | undefined): LogFile | undefined {
  if (path === undefined) return { fd: 2, [Symbol.dispose]() {} }
  try {
    const fd = openSync(path, 'a', 0o660)
    return { fd, [Symbol.dispose]: () => closeSync(fd) }
  } catch (error) {
    stderr.write(
      `The server cannot start: AUTH_LOG_FILE=${JSON.stringify(path)} cannot be opened: ${toReason(error)}\n`,
    )
    return undefined
  }
}
