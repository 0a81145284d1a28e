import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { toArgumentError, toVerbFault } from '@portcullis/service-kit/cli/argument-faults'
import type { Command } from '@portcullis/service-kit/cli/command'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { explainCompatMode } from '../config/compatibility.ts'
import type { Config } from '../config/config.ts'
import { listSslFiles, parseConnectionUrl } from '../db/connection/connection-url.ts'
import { explainFailure } from '../explain-failure.ts'
import { listenOnFirst, toListenHosts } from '../http/open-listeners.ts'
import { configHelp, readConfig, readOptions, toRefusal } from './read-config.ts'

const usage = `Usage: auth config check [--config FILE] [--config-dir DIR]

Reports all errors and warnings of the configuration, without starting the
server. It also checks that the listen address, the folder of the log file and
the certificate files of the database URL exist on this machine.

Options:
${configHelp}

Exit codes: 0 if the server can start with this configuration, 2 otherwise.
`

export const config: Command = {
  summary: 'check the configuration',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth config', { takesArguments: true })
    if (options === undefined) return 2
    const [verb, ...more] = options.positionals
    if (verb !== 'check' || more.length > 0) {
      const fault =
        verb === 'check'
          ? `Unexpected argument ${JSON.stringify(more[0])}: check takes no arguments.`
          : toVerbFault(verb, ['check'])
      io.stderr.write(toArgumentError('auth config', fault))
      return 2
    }
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    for (const note of read.notes) io.stdout.write(`warning: ${note}\n`)
    const remarks = [explainCompatMode(read.config.api), ...read.remarks]
    for (const remark of remarks) io.stdout.write(`note: ${remark}\n`)
    const faults = await findMachineFaults(read.config)
    if (faults.length > 0) {
      io.stderr.write(toRefusal(faults))
      return 2
    }
    io.stdout.write('The configuration is valid.\n')
    return 0
  },
}

/**
 * Finds faults of this machine that prevent the server from starting and that the variables alone
 * do not show.
 */
async function findMachineFaults({
  api,
  database,
  observability,
}: Pick<Config, 'api' | 'database' | 'observability'>): Promise<readonly string[]> {
  const faults = [
    findLogFileFault(observability.logFile),
    ...findCertificateFaults(database.url),
    await findHostFault(api.host),
  ]
  return faults.filter((fault) => fault !== undefined)
}

/** Checks the files named in the URL of the database. */
function findCertificateFaults(url: string): readonly (string | undefined)[] {
  if (!url.startsWith('postgres')) return []
  return listSslFiles(parseConnectionUrl(url).ssl).map(([parameter, path]) => {
    try {
      accessSync(path, constants.R_OK)
      return undefined
    } catch (error) {
      return `AUTH_DB_DATABASE_URL: ${parameter} ${path} cannot be read: ${toReason(error)}`
    }
  })
}

/** Does not create the file; the server creates it when it starts. */
function findLogFileFault(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const name = `AUTH_LOG_FILE=${JSON.stringify(path)}`
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.isDirectory()) return `${name} is a folder; name a file`
  const folder = dirname(path)
  try {
    accessSync(file ? path : folder, constants.W_OK)
    return undefined
  } catch (error) {
    return toCode(error) === 'ENOENT'
      ? `${name}: the folder ${folder} does not exist; create it first`
      : `${name} cannot be written: ${toReason(error)}`
  }
}

/** Listens briefly on a free port, because the server may be running on the configured one. */
async function findHostFault(host: string | undefined): Promise<string | undefined> {
  const probe = createServer()
  try {
    await listenOnFirst(toListenHosts(host), async (each) => {
      probe.listen({ host: each, port: 0 })
      await once(probe, 'listening')
    })
    return undefined
  } catch (error) {
    return `AUTH_API_HOST=${JSON.stringify(host ?? '')}: ${explainFailure(error, host)}`
  } finally {
    probe.close()
  }
}
