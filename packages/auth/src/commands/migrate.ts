import type { Command } from '@portcullis/service-kit/cli/command'
import { parseConnectionUrl } from '../db/connection/connection-url.ts'
import { migrate, toGrants } from '../db/migrate/migrate.ts'
import { explainFailure } from '../explain-failure.ts'
import { createCommandLog } from './command-log.ts'
import { openDatabaseUrl, parseEmbeddedUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const usage = `Usage: auth migrate [OPTION…]

Migrates the tables of the database to the current schema. It is safe to run it
repeatedly and concurrently.

Options:
${configHelp}
  --print-grants ROLE   only print the SQL that grants ROLE the privileges to
                        run the server
  --accept-changed      accept migration files that were changed after they were
                        applied

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

const ownOptions = {
  'print-grants': { type: 'string' },
  'accept-changed': { type: 'boolean' },
} as const

export const migrateCommand: Command = {
  summary: 'migrate the tables to the current schema',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth migrate', { own: ownOptions })
    if (options === undefined) return 2
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    const { url, namespace } = read.config.database
    const role = options.values['print-grants']
    if (role !== undefined) {
      io.stdout.write(toGrants({ schema: namespace, role, owner: findOwner(url) }))
      return 0
    }
    const log = createCommandLog(io, 'warning')
    try {
      let repaired = 0
      await using database = await openDatabaseUrl(url, log, { joinsRunning: true })
      const applied = await migrate({
        url: database.url,
        schema: namespace,
        ...read.config.migrations,
        acceptsChanged: options.values['accept-changed'] === true,
        onApplied: (version) => io.stdout.write(`applied ${version}\n`),
        onRepaired: (object) => {
          io.stdout.write(`repaired ${object}\n`)
          repaired += 1
        },
        onProgress: (message) => io.stderr.write(`${message}\n`),
      })
      if (applied.length + repaired === 0) io.stdout.write('The tables are up to date.\n')
      return 0
    } catch (error) {
      io.stderr.write(`The migration failed: ${explainFailure(error)}\n`)
      return 1
    }
  },
}

/** The user of the URL owns the objects that migrations create. */
function findOwner(url: string): string | undefined {
  return parseEmbeddedUrl(url) === undefined ? parseConnectionUrl(url).user : undefined
}
