/** The options of `auth import`, besides those of all commands. */
export const importOptions = {
  from: { type: 'string' },
  'dry-run': { type: 'boolean' },
  since: { type: 'string' },
  'decryption-key': { type: 'string', multiple: true },
  'accept-newer': { type: 'boolean' },
  'accept-removals': { type: 'boolean' },
  'print-sql': { type: 'boolean' },
  'apply-sql': { type: 'boolean' },
  reverse: { type: 'boolean' },
  jsonl: { type: 'string' },
  csv: { type: 'string' },
  'batch-rows': { type: 'string' },
  json: { type: 'boolean' },
} as const

type ImportOption = keyof typeof importOptions

type ImportValues = {
  readonly [Name in ImportOption]?: string | boolean | readonly string[] | undefined
}

const usefulWithSql: readonly ImportOption[] = ['from', 'print-sql', 'apply-sql', 'reverse']
const usefulWithFile: readonly ImportOption[] = ['jsonl', 'csv', 'dry-run', 'batch-rows', 'json']

/**
 * Returns the reason if the arguments are invalid.
 * @param url the database of Supabase Auth, from an option or a variable.
 */
export function findImportFault(
  values: ImportValues,
  url: string | undefined,
  sinceMs: number | undefined,
  batchRows: number,
): string | undefined {
  const count = [url, values.jsonl, values.csv].filter((source) => source).length
  if (count === 0) return 'One of --from, --jsonl and --csv is required.'
  if (count > 1) return 'Only one of --from, --jsonl and --csv can be used.'
  if (values.since !== undefined && sinceMs === undefined) {
    return '--since must be a time such as 2026-01-31T12:00:00Z.'
  }
  if (!Number.isInteger(batchRows) || batchRows < 1 || batchRows > 1_000_000) {
    return '--batch-rows must be a number from 1 to 1000000.'
  }
  return findConflict(values)
}

/**
 * Options without effect are refused: an operator who passes `--dry-run` with `--apply-sql` expects
 * that nothing is changed.
 */
function findConflict(values: ImportValues): string | undefined {
  if (values['print-sql'] && values['apply-sql']) {
    return 'Only one of --print-sql and --apply-sql can be used.'
  }
  const sql = (['print-sql', 'apply-sql'] as const).find((name) => values[name])
  if (values.reverse && sql === undefined) return '--reverse needs --print-sql or --apply-sql.'
  const file = (['jsonl', 'csv'] as const).find((name) => values[name])
  const kind = sql ?? file
  if (kind === undefined) return undefined
  const useful = sql === undefined ? usefulWithFile : usefulWithSql
  const names = Object.keys(importOptions) as ImportOption[]
  const useless = names.find((name) => values[name] !== undefined && !useful.includes(name))
  return useless === undefined ? undefined : `--${useless} cannot be used with --${kind}.`
}
