import type { ServerName } from './servers/index.ts'

/** What the header of the test file declares with `@servers`; undefined outside of `npm test`. */
const declared = process.env.PORTCULLIS_TEST_SERVERS?.split(',')

/** AUTH_TEST_POSTGRES chooses between these, whatever the file declares. */
const postgresKinds: readonly string[] = ['postgres', 'postgres-embedded']

export function isDeclared(name: ServerName): boolean {
  return declared?.includes(name) ?? false
}

/**
 * Rejects a server that the test file does not declare: the runner prepares and shares servers by these
 * declarations, so they have to be complete.
 */
export function requireDeclared(name: ServerName): void {
  const accepted = postgresKinds.includes(name) ? postgresKinds : [name]
  if (!declared || declared.some((each) => accepted.includes(each))) return
  throw new Error(
    `This test file opens ${name}: declare it in the file's header, "@servers ${name}".`,
  )
}
