import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'

interface ImportedTokenRow extends Row {
  readonly session_id: string
  readonly counter: number
}

/** Finds a token that Supabase Auth stored. */
export const findImportedToken = statement(
  'find_imported_token',
  ['tokenHash'],
  'select session_id, counter from {ns}.imported_refresh_tokens where token_hash = $1',
).returning<ImportedTokenRow>()

interface ImportedKeyRow extends Row {
  readonly sealed_key: Buffer
}

/** Finds the key with which Supabase Auth signed the tokens of a session. */
export const findImportedKey = statement(
  'find_imported_key',
  ['sessionId'],
  'select sealed_key from {ns}.imported_session_keys where session_id = $1',
).returning<ImportedKeyRow>()
