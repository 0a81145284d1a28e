import type { ServerName } from './servers/index.ts'

/**
 * The servers that the header of the test file declares with `@servers`; undefined outside of `npm
 * test`.
 */
const declared = process.env.PORTCULLIS_TEST_SERVERS?.split(',')

/** AUTH_TEST_POSTGRES selects one of these, regardless of which one the file declares. */
const postgresKinds: readonly string[] = ['postgres', 'postgres-embedded']

export function isDeclared(name: ServerName): boolean {
  return declared?.includes(name) ?? false
}

/**
 * Throws for a server that the test file does not declare: the test runner prepares and shares
 * servers according to these declarations, so they must be complete.
 */
export function requireDeclared(name: ServerName): void {
  const accepted = postgresKinds.includes(name) ? postgresKinds : [name]
  if (!declared || declared.some((each) => accepted.includes(each))) return
  throw new Error(
    `This test file opens ${name}: declare it in the file's header, "@servers ${name}".`,
  )
}
