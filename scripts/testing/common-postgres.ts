import {
  MissingProgramError,
  openPostgres,
  openPostgresEmbedded,
  type PostgresServer,
} from '@portcullis/test-servers'

/** Databases come and go by the hundred, and none lives long enough to need care. */
const settings = { max_connections: '500', autovacuum: 'off' }
const users = 'packages/auth/test/'

/** By the variable that tests look for the address in: that of the system, and our own. */
const servers = {
  PORTCULLIS_TEST_POSTGRES_URL: openPostgres,
  PORTCULLIS_TEST_POSTGRES_EMBEDDED_URL: openPostgresEmbedded,
} as const

export interface CommonPostgres extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/**
 * One PostgreSQL of each kind for a whole run: to make one takes a second of a core, and there are many
 * test files. Each makes a database of its own there; those that stop or tune a server open their own.
 * What is missing is left out: then every file looks, and says so.
 */
export async function openCommonPostgres(files: readonly string[]): Promise<CommonPostgres> {
  const opened: (readonly [string, PostgresServer])[] = []
  // For one or two files a server of their own is as quick.
  const isWorthIt = files.filter((file) => file.includes(users)).length > 2
  for (const [variable, opener] of isWorthIt ? Object.entries(servers) : []) {
    try {
      opened.push([variable, await opener({ isOpen: true, settings })])
    } catch (error) {
      if (!(error instanceof MissingProgramError)) throw error
    }
  }
  return {
    env: Object.fromEntries(opened.map(([variable, { url }]) => [variable, url])),
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(([, server]) => server.stop()))
    },
  }
}
