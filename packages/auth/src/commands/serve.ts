import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import type { Command, CommandIo } from '@portcullis/service-kit/command'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { letYoungSpaceGrow } from '@portcullis/service-kit/young-space'
import type { Config } from '../config/config.ts'
import { migrate } from '../db/migrate/migrate.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions, toEnvironmentHelp } from './read-config.ts'
import { toReason } from './reason.ts'

/** @param migrates whether to migrate the tables first. */
export function createServe(version: string, migrates: boolean): Command {
  const name = migrates ? 'up' : 'serve'
  const summary = migrates ? 'migrate, then serve' : 'serve without migrating'
  const usage = `Usage: auth ${name} [--config FILE] [--config-dir DIR]

Runs the server until a signal stops it${migrates ? '. It migrates the tables first' : ''}.

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

    const lifecycle = openLifecycle({
      log,
      process,
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
      await open({
        config,
        version,
        databaseUrl,
        ...(maxConnections !== undefined && { maxConnections }),
        log,
        logFd: file.fd,
        lifecycle,
      })
      letYoungSpaceGrow()
    } catch (error) {
      // If the server is stopped while it starts, errors come from resources that were closed.
      if (!lifecycle.stopping.aborted)
        lifecycle.fail(new Error(toReason(error, config.api.host), { cause: error }))
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

/** How much longer than their own shutdown limit workers get before they are killed. */
const workerMarginMs = 7_000

/** Loaded on demand, because the primary process needs only a small part of the server. */
async function loadServer({ workers }: Config) {
  if (workers === 1) return (await import('../app.ts')).openApp
  return (await import('../workers/primary.ts')).openPrimary
}

export interface LogFile extends Disposable {
  readonly fd: number
}

/**
 * Standard error if no file is configured. Undefined if the file cannot be opened, after printing
 * the error.
 */
export function openLogFile({ stderr }: CommandIo, path: string | undefined): LogFile | undefined {
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
