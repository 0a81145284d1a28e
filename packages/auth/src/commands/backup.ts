import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from '@portcullis/service-kit/command'
import { createLog } from '@portcullis/service-kit/log'
import { openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'
import { toReason } from './reason.ts'

const backupUsage = `Usage: auth backup FILE|FOLDER [--config FILE] [--config-dir FOLDER]

Writes all rows of the database, as they are at one moment, to a file that auth restore reads. Servers
may run meanwhile, also one on an embedded:// database. In a FOLDER the file is named by the time. A file
of that name is replaced when the backup is complete. It holds password hashes and keys: only its owner
may read it.

Options:
${configHelp}

Exit code: 0 done, 1 not done, 2 for wrong usage or configuration.
`

export function createBackup(version: string): Command {
  return {
    summary: 'write a backup of the database, while servers run',
    usage: backupUsage,
    async run(args, io) {
      const options = readOptions(args, io, backupUsage, { takesWords: true })
      if (options === undefined) return 2
      const [target, ...more] = options.positionals
      if (target === undefined || more.length > 0) {
        io.stderr.write(`backup takes one FILE or FOLDER.\n\n${backupUsage}`)
        return 2
      }
      const read = readConfig(io, options.values, { isForRunning: true })
      if (read === undefined) return 2
      const { url, namespace } = read.config.database
      const write = (line: string) => io.stderr.write(line)
      const log = createLog({ level: 'warning', format: 'text', write })
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
        io.stderr.write(`No backup was written: ${toReason(error)}\n`)
        return 1
      }
    },
  }
}

/** `auth-20260131T235959Z.backup.gz` in a folder. */
function toFile(target: string, now: Date): string {
  const path = resolve(target)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(path, `auth-${time}.backup.gz`)
}

function toCount(rows: Readonly<Record<string, number>>): string {
  const sum = Object.values(rows).reduce((total, count) => total + count, 0)
  return `${sum} rows of ${Object.keys(rows).length} tables, ${rows['users'] ?? 0} users`
}

const restoreUsage = `Usage: auth restore FILE [--config FILE] [--config-dir FOLDER]

Fills an empty database with what auth backup wrote, and brings the tables up to date: also with a later
release, and on a later version of PostgreSQL. A database that has rows is left as it is. No server may
run on it meanwhile.

Options:
${configHelp}

Exit code: 0 done, 1 not done, 2 for wrong usage or configuration.
`

export const restore: Command = {
  summary: 'fill an empty database from a backup',
  usage: restoreUsage,
  async run(args, io) {
    const options = readOptions(args, io, restoreUsage, { takesWords: true })
    if (options === undefined) return 2
    const [file, ...more] = options.positionals
    if (file === undefined || more.length > 0) {
      io.stderr.write(`restore takes one FILE.\n\n${restoreUsage}`)
      return 2
    }
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    const { url, namespace } = read.config.database
    const write = (line: string) => io.stderr.write(line)
    const log = createLog({ level: 'warning', format: 'text', write })
    try {
      const { restoreBackup } = await import('../db/backup/restore-backup.ts')
      await using database = await openDatabaseUrl(url, log)
      const rows = await restoreBackup({
        url: database.url,
        schema: namespace,
        ...read.config.migrations,
        file: resolve(file),
        onProgress: (message) => io.stderr.write(`${message}\n`),
      })
      io.stdout.write(`restored ${toCount(rows)}\n`)
      return 0
    } catch (error) {
      io.stderr.write(`Nothing was restored: ${toReason(error)}\n`)
      return 1
    }
  },
}
