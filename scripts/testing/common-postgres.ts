import {
  MissingProgramError,
  openPostgres,
  openPostgresEmbedded,
  type PostgresServer,
} from '@portcullis/test-servers'

/** Who needs no more than a database, and looks for the address in this variable. */
export const commonPostgresVariable = 'PORTCULLIS_TEST_POSTGRES_URL'
const users = 'packages/auth/test/'

/**
 * One PostgreSQL for a whole run: to make one takes a second of a core, and there are many test
 * files. Each makes a database of its own in it; those that stop or tune a server open their own.
 * Undefined where nobody needs it or it is missing: then every file looks, and says so.
 */
export async function openCommonPostgres(
  files: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<PostgresServer | undefined> {
  // For one or two files a server of their own is as quick.
  if (files.filter((file) => file.startsWith(users)).length < 3) return undefined
  const opener = env['AUTH_TEST_POSTGRES'] === 'embedded' ? openPostgresEmbedded : openPostgres
  try {
    return await opener({ settings: { max_connections: '500' } })
  } catch (error) {
    if (error instanceof MissingProgramError) return undefined
    throw error
  }
}
