import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { parseConnectionUrl } from '../db/connection/connection-url.ts'
import { listSslFiles } from '../db/connection/ssl-modes.ts'
import { listenOnFirst, toListenHosts } from '../http/listen-hosts.ts'
import { toReason } from './reason.ts'

/** What would keep the server from starting on this machine, which no variable shows by itself. */
export async function findMachineFaults({
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

/** Files that the URL of the database names. */
function findCertificateFaults(url: string): readonly (string | undefined)[] {
  if (!url.startsWith('postgres')) return []
  return listSslFiles(parseConnectionUrl(url).ssl).map(([parameter, path]) => {
    try {
      accessSync(path, constants.R_OK)
      return undefined
    } catch (error) {
      return `AUTH_DB_DATABASE_URL: ${parameter} cannot be read: ${toReason(error)}`
    }
  })
}

/** Creates nothing: the file appears when the server starts. */
function findLogFileFault(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const name = `AUTH_LOG_FILE=${JSON.stringify(path)}`
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.isDirectory()) return `${name}: is a folder; name a file in it`
  const folder = dirname(path)
  try {
    accessSync(file ? path : folder, constants.W_OK)
    return undefined
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isMissing) return `${name}: the folder ${folder} does not exist; create it first`
    return `${name}: cannot be written: ${toReason(error)}`
  }
}

/** Listens for a moment, on a port that nobody uses: the server may be running on its own. */
async function findHostFault(host: string | undefined): Promise<string | undefined> {
  const probe = createServer()
  try {
    await listenOnFirst(toListenHosts(host), async (each) => {
      probe.listen({ host: each, port: 0 })
      await once(probe, 'listening')
    })
    return undefined
  } catch (error) {
    return `AUTH_API_HOST=${JSON.stringify(host ?? '')}: ${toReason(error, host)}`
  } finally {
    probe.close()
  }
}
