import {
  MissingProgramError,
  openPostgres,
  openPostgresEmbedded,
  type PostgresServer,
} from '@portcullis/test-servers'

const settings = { max_connections: '500', autovacuum: 'off' }

/** By the variable in which the tests of auth look for a server. */
const openers = {
  PORTCULLIS_TEST_POSTGRES_URL: openPostgres,
  PORTCULLIS_TEST_POSTGRES_EMBEDDED_URL: openPostgresEmbedded,
} as const

export interface CommonPostgres extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** One PostgreSQL of each kind for all mutants, because starting one takes longer than many tests. */
export async function openCommonPostgres(tests: readonly string[]): Promise<CommonPostgres> {
  const opened: (readonly [string, PostgresServer])[] = []
  const isNeeded = tests.some((test) => test.startsWith('packages/auth/test/'))
  for (const [variable, open] of isNeeded ? Object.entries(openers) : []) {
    try {
      opened.push([variable, await open({ isOpen: true, settings })])
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
