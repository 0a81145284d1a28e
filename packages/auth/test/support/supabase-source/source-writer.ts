import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { SourceRelease } from './schema.ts'
import { newStoredToken } from './tokens.ts'

/** The columns of a row. */
export type Values = Readonly<Record<string, unknown>>

/** Writes rows as Supabase Auth does. */
export interface SourceWriter {
  readonly client: Client
  insert(table: string, row: Values): Promise<void>
  user(row: Values): Promise<string>
  /** @param methods how the user signed in. Default: with a password. */
  session(userId: string, row?: Values, methods?: readonly string[]): Promise<string>
  /** Adds the stored tokens of a session that was refreshed. Only the last one is valid. */
  storedTokens(userId: string, sessionId: string, count: number): Promise<readonly string[]>
}

export const earlier = (minutes: number) => new Date(Date.now() - minutes * 60_000)

export function createSourceWriter(
  client: Client,
  schema: string,
  release: SourceRelease,
): SourceWriter {
  const insert = async (table: string, row: Values) => {
    const names = Object.keys(row)
    const values = Object.values(row).map((value) =>
      typeof value === 'object' && value?.constructor === Object ? JSON.stringify(value) : value,
    )
    await client.query(
      `insert into ${schema}.${table} (${names.join(', ')})
       values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
      values,
    )
  }
  const times = { created_at: earlier(600), updated_at: earlier(300) }
  return {
    client,
    insert,
    async user(row) {
      const id = String(row['id'] ?? randomUUID())
      await insert('users', {
        instance_id: '00000000-0000-0000-0000-000000000000',
        id,
        aud: 'authenticated',
        role: 'authenticated',
        confirmation_token: '',
        recovery_token: '',
        email_change: '',
        raw_app_meta_data: { provider: 'email', providers: ['email'] },
        raw_user_meta_data: {},
        ...times,
        ...row,
      })
      return id
    },
    async session(userId, row = {}, methods = ['password']) {
      const id = randomUUID()
      await insert('sessions', {
        id,
        user_id: userId,
        aal: 'aal1',
        ip: '192.0.2.7',
        user_agent: 'Mozilla/5.0',
        ...times,
        ...row,
      })
      for (const authentication_method of methods) {
        await insert('mfa_amr_claims', {
          session_id: id,
          created_at: earlier(500),
          updated_at: earlier(500),
          authentication_method,
        })
      }
      return id
    },
    async storedTokens(userId, sessionId, count) {
      const tokens = Array.from({ length: count }, () =>
        newStoredToken(release === '2.196' ? 12 : 22),
      )
      for (const [at, token] of tokens.entries()) {
        const time = earlier(60 * (count - at))
        await insert('refresh_tokens', {
          token,
          user_id: userId,
          session_id: sessionId,
          parent: tokens[at - 1] ?? '',
          revoked: at < count - 1,
          created_at: time,
          updated_at: time,
        })
      }
      return tokens
    },
  }
}
