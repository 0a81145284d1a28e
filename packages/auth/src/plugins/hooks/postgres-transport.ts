import type { Database, Row } from '../../db/database.ts'
import { DatabaseLostError } from '../../db/database-errors.ts'
import { statement } from '../../db/statement.ts'
import { badAnswer, type Transport, toTimeout } from './hook.ts'
import type { FunctionTarget } from './uri.ts'

export interface PostgresTransportParts {
  readonly target: FunctionTarget
  /** Of the hook. */
  readonly name: string
  readonly db: Pick<Database, 'transaction'>
  readonly timeoutMs?: number
}

/**
 * Calls a function of our own database, in a transaction of its own: what it writes stays, also where
 * it rejects. Our writes are one statement each, so there is none that it could be part of.
 */
export function createPostgresTransport(parts: PostgresTransportParts): Transport {
  const { target, name, db, timeoutMs = 2_000 } = parts
  const call = toFunctionCall(name, target.schema, target.functionName)
  return async (question) => {
    try {
      return await db.transaction(async (queries) => {
        await queries.run(limitStatements, { timeout: `${timeoutMs}` })
        const [row] = await queries.run(call, { argument: JSON.stringify(question) })
        // A function that returns void returns an empty text.
        return row?.answer || undefined
      })
    } catch (error) {
      if (!(error instanceof DatabaseLostError))
        throw badAnswer('Hook function failed', toCause(error))
      throw error.isTimeout ? toTimeout(timeoutMs, error) : error
    }
  }
}

/**
 * What the log may have of it. Errors of names and rights (class 42) are about the function; all
 * others may repeat what it was given, which can be a code or an address.
 */
function toCause(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const code = 'code' in error ? `${error.code}` : ''
  if (code.startsWith('42')) return new Error(error.message)
  return new Error(`PostgreSQL says ${code || error.name}, its log has more`)
}

/** For the rest of the transaction, in milliseconds. */
const limitStatements = statement(
  'limit_statements',
  ['timeout'],
  `select set_config('statement_timeout', $1, true)`,
)

interface FunctionAnswer extends Row {
  readonly answer: unknown
}

/**
 * Calls a function of the operator's, whose argument is json or jsonb. Its names were checked to have
 * no quotes in them.
 */
function toFunctionCall(hook: string, schema: string, functionName: string) {
  return statement(
    `hook_${hook}`,
    ['argument'],
    `select "${schema}"."${functionName}"($1) as answer`,
  ).returning<FunctionAnswer>()
}
