import type { Command } from '@portcullis/service-kit/command'
import { createLog } from '@portcullis/service-kit/log'
import { migrate, toGrants } from '../db/migrate/migrate.ts'
import { openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'
import { toReason } from './reason.ts'

const usage = `Usage: auth migrate [--print-grants ROLE] [--accept-changed] [--config FILE] [--config-dir FOLDER]

Brings the tables of the database up to date. It may be repeated, also by several at once.

Options:
${configHelp}
  --print-grants ROLE      change nothing, and print the SQL that lets this role serve on the tables
  --accept-changed         accept files of migrations that were changed after they were applied
`

const ownOptions = {
  'print-grants': { type: 'string' },
  'accept-changed': { type: 'boolean' },
} as const

export const migrateCommand: Command = {
  summary: 'bring the tables up to date',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, usage, { own: ownOptions })
    if (options === undefined) return 2
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    const { url, namespace } = read.config.database
    const role = options.values['print-grants']
    if (role !== undefined) {
      io.stdout.write(toGrants({ schema: namespace, role, owner: findUser(url) }))
      return 0
    }
    const write = (line: string) => io.stderr.write(line)
    const log = createLog({ level: 'warning', format: 'text', write })
    try {
      let repaired = 0
      await using database = await openDatabaseUrl(url, log, { joinsRunning: true })
      const applied = await migrate({
        url: database.url,
        schema: namespace,
        ...read.config.migrations,
        acceptsChanged: options.values['accept-changed'] === true,
        onApplied: (version) => io.stdout.write(`applied ${version}\n`),
        onRepaired: (thing) => {
          io.stdout.write(`repaired ${thing}\n`)
          repaired += 1
        },
        onProgress: (message) => io.stderr.write(`${message}\n`),
      })
      if (applied.length + repaired === 0) io.stdout.write('The tables are up to date.\n')
      return 0
    } catch (error) {
      io.stderr.write(`The tables were not brought up to date: ${toReason(error)}\n`)
      return 1
    }
  },
}

/** The user of the URL, who owns what migrations make. */
function findUser(url: string): string | undefined {
  const [, user] = /^postgres(?:ql)?:\/\/([^:@/?]+)(?::[^@/?]*)?@/.exec(url) ?? []
  return user === undefined ? undefined : decodeURIComponent(user)
}
