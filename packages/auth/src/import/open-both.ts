import type { Client } from 'pg'
import { openClient } from '../db/connection/open-client.ts'
import { ImportError } from './import-error.ts'
import { identifyDatabase } from './statements/repoint.ts'
import type { SourceUrl } from './supabase/source-url.ts'

/** Connections to both databases. */
export interface BothClients {
  readonly source: Client
  readonly target: Client
}

const applicationName = 'portcullis-auth import'

/** @throws {ImportError} if the source cannot be reached. */
export async function withBoth<Result>(
  from: SourceUrl,
  targetUrl: string,
  use: (clients: BothClients) => Promise<Result>,
): Promise<Result> {
  const source = await openSource(from)
  try {
    const target = await openClient(targetUrl, applicationName)
    try {
      return await use({ source, target })
    } finally {
      await target.end()
    }
  } finally {
    await source.end()
  }
}

async function openSource({ url, label, option }: SourceUrl): Promise<Client> {
  try {
    return await openClient(url, applicationName)
  } catch (error) {
    throw new ImportError(
      `The database of Supabase Auth (${label}) cannot be reached (${toText(error)}): check the URL in ${option}, and that ` +
        'PostgreSQL there accepts connections from this machine.',
      { cause: error },
    )
  }
}

function toText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(toText).join('; ')
  return error instanceof Error ? error.message : String(error)
}

export async function isSameDatabase({ source, target }: BothClients): Promise<boolean> {
  const [one, other] = await Promise.all(
    [source, target].map(async (client) => {
      const { rows } = await client.query<{ identity: string }>(identifyDatabase)
      return rows[0]?.identity
    }),
  )
  return one === other
}
