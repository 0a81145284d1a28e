import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { Command } from '@portcullis/service-kit/cli/command'
import { toCountText } from '@portcullis/service-kit/text/format'
import { explainFailure } from '../explain-failure.ts'
import { createCommandLog } from './command-log.ts'
import { openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const backupUsage = `Usage: auth backup FILE|DIR [--config FILE] [--config-dir DIR]

Writes a consistent snapshot of all rows of the database to a file for auth
restore. Servers may be running, including one on an embedded:// database. In
the folder DIR, the file name is the current time. An existing file is replaced
when the backup is complete. The file contains password hashes and keys, so only
its owner can read it.

Options:
${configHelp}

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

export function createBackup(version: string): Command {
  return {
    summary: 'write a backup of the database; servers may be running',
    usage: backupUsage,
    async run(args, io) {
      const options = readOptions(args, io, 'auth backup', { takesArguments: true })
      if (options === undefined) return 2
      const [target, ...more] = options.positionals
      if (target === undefined || more.length > 0) {
        io.stderr.write(toArgumentError('auth backup', 'backup needs exactly one FILE or DIR.'))
        return 2
      }
      const read = readConfig(io, options.values, { isForRunning: true })
      if (read === undefined) return 2
      const { url, namespace } = read.config.database
      const log = createCommandLog(io, 'warning')
      try {
        const file = toFile(target, new Date())
        const { writeBackup } = await import('../db/backup/write-backup.ts')
        await using database = await openDatabaseUrl(url, log, { joinsRunning: true })
        const rows = await writeBackup({
          url: database.url,
          schema: namespace,
          file,
          serverVersion: version,
        })
        io.stdout.write(`${file}: ${toCount(rows)}\n`)
        return 0
      } catch (error) {
        io.stderr.write(`No backup was written: ${explainFailure(error)}\n`)
        return 1
      }
    },
  }
}

/** In a folder, the name of the file is `auth-20260131T235959Z.backup.gz`. */
function toFile(target: string, now: Date): string {
  const path = resolve(target)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(path, `auth-${time}.backup.gz`)
}

function toCount(rows: Readonly<Record<string, number>>): string {
  const sum = Object.values(rows).reduce((total, count) => total + count, 0)
  return `${toCountText(sum, 'row')} in ${Object.keys(rows).length} tables, ${toCountText(rows['users'] ?? 0, 'user')}`
}

const restoreUsage = `Usage: auth restore FILE [--config FILE] [--config-dir DIR]

Restores a file written by auth backup into an empty database and migrates its
tables. The release and the version of PostgreSQL may be later than those of the
backup. A database that contains rows is not changed. Stop all servers of the
database first.

Options:
${configHelp}

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

export const restore: Command = {
  summary: 'restore a backup into an empty database',
  usage: restoreUsage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth restore', { takesArguments: true })
    if (options === undefined) return 2
    const [file, ...more] = options.positionals
    if (file === undefined || more.length > 0) {
      io.stderr.write(toArgumentError('auth restore', 'restore needs exactly one FILE.'))
      return 2
    }
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    const { url, namespace } = read.config.database
    const log = createCommandLog(io, 'warning')
    let isLoaded = false
    try {
      const { restoreBackup } = await import('../db/backup/restore-backup.ts')
      await using database = await openDatabaseUrl(url, log)
      const rows = await restoreBackup({
        url: database.url,
        schema: namespace,
        ...read.config.migrations,
        file: resolve(file),
        onLoaded() {
          isLoaded = true
        },
        onProgress: (message) => io.stderr.write(`${message}\n`),
      })
      io.stdout.write(`restored ${toCount(rows)}\n`)
      return 0
    } catch (error) {
      const reason = explainFailure(error)
      io.stderr.write(
        isLoaded
          ? `The rows were restored, but the tables were not migrated: ${reason}\nFix the cause and run auth migrate.\n`
          : `Nothing was restored: ${reason}\n`,
      )
      return 1
    }
  },
}
