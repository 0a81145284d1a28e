import type { Row } from '../../db/database.ts'
import { type Statement, statement } from '../../db/statement.ts'

/** For the rest of the transaction. $1 milliseconds. */
export const limitStatements = statement(
  'limit_statements',
  `select set_config('statement_timeout', $1, true)`,
)

export interface FunctionAnswer extends Row {
  readonly answer: unknown
}

/**
 * Calls a function of the operator's, whose argument is json or jsonb. Its names were checked to have
 * no quotes in them. $1 the argument.
 */
export function toFunctionCall(hook: string, schema: string, functionName: string): Statement {
  return statement(`hook_${hook}`, `select "${schema}"."${functionName}"($1) as answer`)
}
