import { resolve } from 'node:path'
import type { Command } from '@portcullis/service-kit/command'
import { createLog } from '@portcullis/service-kit/log'
import { toCount } from './backup.ts'
import { openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'
import { toReason } from './reason.ts'

const usage = `Usage: auth restore FILE [--config FILE] [--config-dir FOLDER]

Fills an empty database with what auth backup wrote, and brings the tables up to date: also with a later
release, and on a later version of PostgreSQL. A database that has rows is left as it is. No server may
run on it meanwhile.

Options:
${configHelp}

Exit code: 0 done, 1 not done, 2 for wrong usage or configuration.
`

export const restore: Command = {
  summary: 'fill an empty database from a backup',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, usage, { takesWords: true })
    if (options === undefined) return 2
    const [file, ...more] = options.positionals
    if (file === undefined || more.length > 0) {
      io.stderr.write(`restore takes one FILE.\n\n${usage}`)
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
