import type { Database } from '../../db/database.ts'
import { DatabaseLostError } from '../../db/database-errors.ts'
import { limitStatements, toFunctionCall } from '../../db/hook-function.ts'
import { type Transport, toHookError, toTimeout } from './hook.ts'
import type { FunctionTarget } from './uri.ts'

export interface PostgresTransportParts {
  readonly target: FunctionTarget
  /** The name of the hook. */
  readonly name: string
  readonly db: Pick<Database, 'transaction'>
  readonly timeoutMs?: number
}

/**
 * Calls a function in the server's own database, in a separate transaction: what the function
 * writes is kept even if it rejects the request. There is no transaction that it could join,
 * because the server's writes are single statements.
 */
export function createPostgresTransport(parts: PostgresTransportParts): Transport {
  const { target, name, db, timeoutMs = 2_000 } = parts
  const call = toFunctionCall(name, target)
  return async (payload) => {
    try {
      return await db.transaction(async (queries) => {
        await queries.run(limitStatements, { timeout: `${timeoutMs}` })
        const [row] = await queries.run(call, { argument: JSON.stringify(payload) })
        // A function that returns void yields an empty string.
        return row?.answer || undefined
      })
    } catch (error) {
      if (!(error instanceof DatabaseLostError))
        throw toHookError('Hook function failed', toCause(error))
      throw error.isTimeout ? toTimeout(timeoutMs, error) : error
    }
  }
}

/**
 * Reduces an error to what may be logged. Errors about names and privileges (class 42) concern the
 * function. Others may quote its argument, which can contain a code or an address.
 */
function toCause(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const code = 'code' in error ? `${error.code}` : ''
  if (code.startsWith('42')) return new Error(error.message)
  return new Error(`PostgreSQL reported ${code || error.name}; see the PostgreSQL log for details`)
}
