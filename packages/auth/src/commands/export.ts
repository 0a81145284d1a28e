import { resolve } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import type { Log } from '@portcullis/service-kit/log/log'
import { toCountText } from '@portcullis/service-kit/text/format'
import type { Config } from '../config/config.ts'
import { explainFailure } from '../explain-failure.ts'
import type { ImportSettings } from '../import/import-settings.ts'
import { createCommandLog } from './command-log.ts'
import { createImportProgress } from './import-progress.ts'
import { openCommandDatabase, openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const usage = `Usage: auth export --to URL [OPTION…]
       auth export --jsonl FILE

Writes users, identities, second factors, passkeys, providers, OAuth clients and
what users have granted to them, with all changes since the move, back into the
tables of Supabase Auth. Rows that were changed later in Supabase Auth are kept.
Sessions are not exported: users have to sign in again. docs/auth-migration.md
describes the way back.

With --jsonl, writes users to a file that auth import --jsonl reads.

Options:
${configHelp}
  --to URL              the database of Supabase Auth, with a role that can
                        write to its tables, and owns those with triggers:
                        postgres://user:password@host/db?schema=auth;
                        default: AUTH_EXPORT_TO
  --dry-run             read and check everything, report the result, and write
                        nothing
  --json                print the report as JSON
  --jsonl FILE          write one JSON object per user, without second factors
                        and passkeys. The file contains password hashes, so
                        only its owner can read it

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments or an invalid
configuration.
`

const ownOptions = {
  to: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  jsonl: { type: 'string' },
} as const

export const exportCommand: Command = {
  summary: 'write users back into the database of Supabase Auth, or into a file',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth export', { own: ownOptions })
    if (options === undefined) return 2
    const { jsonl, json = false, 'dry-run': isDryRun = false } = options.values
    const to = options.values.to ?? (jsonl === undefined ? io.env['AUTH_EXPORT_TO'] : undefined)
    const fault = findFault({ ...options.values, to })
    if (fault !== undefined) {
      io.stderr.write(toArgumentError('auth export', fault))
      return 2
    }
    const read = readConfig(io, options.values, { isForRunning: true })
    if (read === undefined) return 2
    const log = createCommandLog(io, 'warning')
    const progress = createImportProgress(io)
    try {
      if (jsonl !== undefined)
        return await exportFile(read.config, log, io, { file: jsonl, isJson: json })
      const { toExportText } = await import('../import/report.ts')
      const report = await exportRows(read.config, log, {
        to: to ?? '',
        option: options.values.to === undefined ? 'AUTH_EXPORT_TO' : '--to',
        isDryRun,
        onProgress: (at) => progress.show(at),
      })
      progress.end()
      io.stdout.write(json ? `${JSON.stringify(report)}\n` : toExportText(report))
      return 0
    } catch (error) {
      progress.end()
      io.stderr.write(`The export failed: ${explainFailure(error)}\n`)
      return 1
    }
  },
}

interface ExportValues {
  readonly to?: string | undefined
  readonly jsonl?: string | undefined
  readonly 'dry-run'?: boolean | undefined
}

/** Options without effect are refused: with `--dry-run`, no file must be written. */
function findFault(values: ExportValues): string | undefined {
  if (!values.to && !values.jsonl) return 'One of --to and --jsonl is required.'
  if (values.to && values.jsonl) return 'Pass either --to or --jsonl, not both.'
  if (!values.jsonl) return undefined
  return values['dry-run'] ? '--dry-run cannot be used with --jsonl.' : undefined
}

async function exportFile(
  { database, secrets }: Config,
  log: Log,
  io: CommandIo,
  { file, isJson }: { readonly file: string; readonly isJson: boolean },
): Promise<number> {
  const { writeJsonl } = await import('../export/write-jsonl.ts')
  const { createHashBox } = await import('../tokens/hash-box.ts')
  const path = resolve(file)
  await using running = await openDatabaseUrl(database.url, log, { joinsRunning: true })
  const count = await writeJsonl({
    url: running.url,
    schema: database.namespace,
    file: path,
    hashes: createHashBox(secrets.hashes),
  })
  io.stdout.write(
    isJson
      ? `${JSON.stringify({ file: path, users: count })}\n`
      : `${path}: ${toCountText(count, 'user')}\n`,
  )
  return 0
}

interface ExportOptions {
  readonly to: string
  /** The option or the variable that has the URL, for messages. */
  readonly option: string
  readonly isDryRun: boolean
  readonly onProgress: ImportSettings['onProgress']
}

async function exportRows(config: Config, log: Log, { to, option, ...options }: ExportOptions) {
  const { runExport } = await import('../export/run-export.ts')
  const { parseSupabaseUrl } = await import('../import/supabase/supabase-url.ts')
  const { openServerKeys } = await import('../tokens/server-keys.ts')
  const { createHashBox } = await import('../tokens/hash-box.ts')
  const { createSecretBox } = await import('../tokens/secret-box.ts')
  const { url, namespace: schema } = config.database
  const target = parseSupabaseUrl(to, option)
  await using running = await openDatabaseUrl(url, log, { joinsRunning: true })
  await using database = await openCommandDatabase(config, log)
  using keys = await openServerKeys({ db: database.db, secrets: config.secrets, log })
  return await runExport({
    ...options,
    to: target,
    from: { url: running.url, schema },
    tools: {
      hashes: createHashBox(config.secrets.hashes),
      factorSecrets: createSecretBox(keys.ring('factor_secrets')),
    },
    onWarning: (message) => log.warning(message),
  })
}
