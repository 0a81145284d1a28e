import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Environment } from '@portcullis/service-kit/settings/env'
import { parseTime } from '@portcullis/service-kit/text/time'
import type { Config } from '../config/config.ts'
import { explainFailure } from '../explain-failure.ts'
import type { ImportSettings } from '../import/import-settings.ts'
import type { ImportReport } from '../import/report.ts'
import type { FileImportSettings } from '../import/run-file-import.ts'
import type { KeyRing } from '../tokens/key-ring.ts'
import { createCommandLog } from './command-log.ts'
import { findImportFault, importOptions } from './import-arguments.ts'
import { createImportProgress } from './import-progress.ts'
import { openCommandDatabase, openDatabaseUrl } from './open-database-url.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const defaultBatchRows = 10_000

const usage = `Usage: auth import --from URL [OPTION…]
       auth import --from URL --print-sql|--apply-sql [--reverse]
       auth import --jsonl FILE|--csv FILE [OPTION…]

Copies users, identities, second factors, passkeys, SAML and custom providers,
OAuth clients, what users have granted to them, and sessions from the database
of Supabase Auth (2.150 to 2.196) into the database of this server. Passwords
keep working and sessions continue. The source is only read. Both servers may be
running. Repeat the command to copy later changes; rows that were changed here
are kept. docs/auth-migration.md describes the whole move and the format of
files.

Options:
${configHelp}
  --from URL            the database of Supabase Auth, with a role that owns its
                        tables: postgres://user:password@host/db?schema=auth;
                        default: AUTH_IMPORT_FROM
  --dry-run             read and check everything, report the result, and write
                        nothing
  --since TIME          read only rows that changed at this time or later, such
                        as 2026-01-31T12:00:00Z; each report contains the time
                        for the next run
  --decryption-key ID=KEY
                        a key with which Supabase Auth encrypts columns;
                        repeatable; default: the keys in
                        GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS
  --accept-newer        read the tables of a later release than 2.196
  --accept-removals     import even if the source has lost more than a tenth of
                        its users, and delete them here too
  --print-sql           print the SQL that makes your tables use the schema of
                        this server, if it is in the same database as that of
                        Supabase Auth: foreign keys, policies, defaults,
                        triggers on users and privileges. Import nothing
  --apply-sql           run that SQL in one transaction. Import nothing
  --reverse             with --print-sql or --apply-sql: make your tables use
                        the schema of Supabase Auth again
  --jsonl FILE          import users from a file with one JSON object per line
  --csv FILE            import users from a CSV file whose first line has the
                        names of the fields
  --batch-rows N        rows per transaction; default: ${defaultBatchRows}
  --json                print the report as JSON

Exit codes: 0 on success, 1 on failure or if the verification finds differences,
2 for invalid arguments or an invalid configuration.
`

export const importCommand: Command = {
  summary: 'copy users and sessions from Supabase Auth, or users from a file',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth import', { own: importOptions })
    if (options === undefined) return 2
    const { values } = options
    const { jsonl, csv } = values
    const url = values.from ?? (jsonl || csv ? undefined : io.env['AUTH_IMPORT_FROM'])
    const sinceMs = values.since === undefined ? undefined : parseTime(values.since)
    const batchRows = Number(values['batch-rows'] ?? defaultBatchRows)
    const isApplied = values['apply-sql'] === true
    const isRepoint = isApplied || values['print-sql'] === true
    const fault = findImportFault(values, url, sinceMs, batchRows)
    if (fault !== undefined) {
      io.stderr.write(toArgumentError('auth import', fault))
      return 2
    }
    const option = values.from === undefined ? 'AUTH_IMPORT_FROM' : '--from'
    const from = { text: url ?? '', option }
    const read = readConfig(io, values, { isForRunning: true })
    if (read === undefined) return 2
    const { config } = read
    const log = createCommandLog(io, 'warning')
    if (isRepoint) {
      const isReverse = values.reverse === true
      return await repoint(config, log, io, { from, isReverse, isApplied })
    }
    const isDryRun = values['dry-run'] === true
    const file = jsonl ?? csv
    return await printReport(io, values.json === true, (onProgress) =>
      file === undefined
        ? importRows(config, log, {
            from,
            keys: values['decryption-key'] ?? listDecryptionKeys(read.sources),
            isDryRun,
            since: sinceMs === undefined ? undefined : new Date(sinceMs),
            batchRows,
            acceptsNewer: values['accept-newer'] === true,
            acceptsRemovals: values['accept-removals'] === true,
            onProgress,
            onWarning: (message) => log.warning(message),
          })
        : importFile(config, log, {
            file: resolve(file),
            format: jsonl === undefined ? 'csv' : 'jsonl',
            isDryRun,
            batchRows,
            onProgress: (done) => onProgress({ label: 'users', done, total: undefined }),
            onWarning: (message) => log.warning(message),
          }),
    )
  },
}

type Run = (onProgress: ImportSettings['onProgress']) => Promise<ImportReport>

async function printReport(io: CommandIo, isJson: boolean, run: Run): Promise<number> {
  const progress = createImportProgress(io)
  try {
    const { toReportText } = await import('../import/report.ts')
    const report = await run((at) => progress.show(at))
    progress.end()
    io.stdout.write(isJson ? `${JSON.stringify(report)}\n` : toReportText(report))
    return (report.verification?.differences.length ?? 0) > 0 ? 1 : 0
  } catch (error) {
    progress.end()
    io.stderr.write(`The import failed: ${explainFailure(error)}\n`)
    return 1
  }
}

/** The URL of the database of Supabase Auth, and the option or variable that has it. */
interface SourceArgument {
  readonly text: string
  readonly option: string
}

interface RepointOptions {
  readonly from: SourceArgument
  readonly isReverse: boolean
  readonly isApplied: boolean
}

async function repoint(
  config: Config,
  log: Log,
  io: CommandIo,
  { from, ...options }: RepointOptions,
): Promise<number> {
  try {
    const { runRepoint } = await import('../import/run-repoint.ts')
    const { toRepointText } = await import('../import/repoint.ts')
    const { parseSupabaseUrl } = await import('../import/supabase/supabase-url.ts')
    const { url, namespace: schema } = config.database
    await using running = await openDatabaseUrl(url, log, { joinsRunning: true })
    const to = { url: running.url, schema }
    const result = await runRepoint({
      ...options,
      from: parseSupabaseUrl(from.text, from.option),
      to,
    })
    io.stdout.write(toRepointText(result.plan, result.settings))
    if (options.isApplied) io.stderr.write('The SQL above was applied.\n')
    return 0
  } catch (error) {
    const outcome = options.isApplied ? 'Nothing was changed' : 'The SQL cannot be printed'
    io.stderr.write(`${outcome}: ${explainFailure(error)}\n`)
    return 1
  }
}

/** Reads the keys from the variable of Supabase Auth, in the environment or in a file. */
function listDecryptionKeys(sources: readonly Environment[]): readonly string[] {
  const name = 'GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
  const text = sources.map((source) => source[name]).find((value) => value) ?? ''
  return text.split(',').filter((key) => key.trim() !== '')
}

type FileOptions = Omit<FileImportSettings, 'to' | 'defaults' | 'checks' | 'toStoredHash'>

async function importFile(config: Config, log: Log, options: FileOptions): Promise<ImportReport> {
  const { checkImportFile, runFileImport } = await import('../import/run-file-import.ts')
  await checkImportFile(options.file)
  const { parseEmail, parsePhone } = await import('../addresses.ts')
  const { findPasswordFormat } = await import('../passwords/formats/index.ts')
  const { createHashBox } = await import('../tokens/hash-box.ts')
  const { url, namespace: schema } = config.database
  await using running = await openDatabaseUrl(url, log, { joinsRunning: true })
  const { audience: aud, defaultGroup: role } = config.tokens
  return await runFileImport({
    ...options,
    to: { url: running.url, schema },
    defaults: { aud, role, now: new Date() },
    checks: {
      parseEmail,
      parsePhone,
      isPasswordHash: (hash) => findPasswordFormat(hash) !== undefined,
    },
    toStoredHash: createHashBox(config.secrets.hashes).seal,
  })
}

interface ImportOptions extends Omit<ImportSettings, 'from' | 'to' | 'tools' | 'audiences'> {
  readonly from: SourceArgument
  readonly keys: readonly string[]
}

/** Modules are loaded here, so that a command with invalid arguments ends quickly. */
async function importRows(
  config: Config,
  log: Log,
  { from, keys, ...options }: ImportOptions,
): Promise<ImportReport> {
  const { runImport } = await import('../import/run-import.ts')
  const { parseSupabaseUrl } = await import('../import/supabase/supabase-url.ts')
  const { createFieldDecryption, parseDecryptionKeys } = await import(
    '../import/supabase/field-encryption.ts'
  )
  const { createSessionKeyBox } = await import('../features/sessions/imported-tokens.ts')
  const { createHashBox } = await import('../tokens/hash-box.ts')
  const { createSecretBox } = await import('../tokens/secret-box.ts')
  const source = parseSupabaseUrl(from.text, from.option)
  const decryption = createFieldDecryption(parseDecryptionKeys(keys))
  const { url, namespace: schema } = config.database
  await using running = await openDatabaseUrl(url, log, { joinsRunning: true })
  const rings = await openRings(config, log, options.isDryRun)
  return await runImport({
    ...options,
    from: source,
    to: { url: running.url, schema },
    audiences: [config.tokens.audience, ...config.tokens.allowedAudiences],
    tools: {
      decryption,
      hashes: createHashBox(config.secrets.hashes),
      factorSecrets: createSecretBox(rings.factorSecrets),
      sessionKeys: createSessionKeyBox(rings.refreshTokens),
    },
  })
}

/** The keys that encrypt imported secrets. */
interface Rings {
  readonly factorSecrets: KeyRing
  readonly refreshTokens: KeyRing
}

/**
 * A dry run stores no secrets, so it encrypts them with a random key. Opening the keys of the server
 * would create missing ones.
 */
async function openRings(config: Config, log: Log, isDryRun: boolean): Promise<Rings> {
  if (isDryRun) {
    const { createKeyRing } = await import('../tokens/key-ring.ts')
    const ring = createKeyRing(randomBytes(32))
    return { factorSecrets: ring, refreshTokens: ring }
  }
  const { openServerKeys } = await import('../tokens/server-keys.ts')
  await using database = await openCommandDatabase(config, log)
  // The rings keep their keys after this, and an import does not need newer ones.
  using keys = await openServerKeys({ db: database.db, secrets: config.secrets, log })
  return { factorSecrets: keys.ring('factor_secrets'), refreshTokens: keys.ring('refresh_tokens') }
}
