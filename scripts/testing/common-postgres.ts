import {
  MissingProgramError,
  openPostgres,
  openPostgresEmbedded,
  type PostgresServer,
  type ServerName,
} from '@portcullis/test-servers'
import type { TestFile } from './test-files.ts'

/** Hundreds of databases are created and dropped, and none exists long enough to need vacuuming. */
const settings = { max_connections: '500', autovacuum: 'off' }

/** The environment variable for the address of each server that a file may declare. */
const commonServers: readonly {
  readonly name: ServerName
  readonly variable: string
  readonly open: typeof openPostgres
}[] = [
  { name: 'postgres', variable: 'PORTCULLIS_TEST_POSTGRES_URL', open: openPostgres },
  {
    name: 'postgres-embedded',
    variable: 'PORTCULLIS_TEST_POSTGRES_EMBEDDED_URL',
    open: openPostgresEmbedded,
  },
]

export interface CommonPostgres extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/**
 * Opens one PostgreSQL of each kind that the files declare, for the whole run: creating one takes a
 * second of a core. Each file creates its own databases there; files that stop or tune a server
 * open their own. If a program is missing, each file detects that and skips its tests.
 */
export async function openCommonPostgres(
  files: readonly TestFile[],
  // For one or two files, separate servers are as fast.
  minUsers = 3,
): Promise<CommonPostgres> {
  const opened: (readonly [string, PostgresServer])[] = []
  for (const { name, variable, open } of commonServers) {
    if (files.filter((file) => file.servers.includes(name)).length < minUsers) continue
    try {
      opened.push([variable, await open({ isOpen: true, isInMemory: true, settings })])
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
