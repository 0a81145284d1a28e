import type { Row } from '../../db/database.ts'
import { statement } from '../../db/statement.ts'

/** For the rest of the transaction, in milliseconds. */
export const limitStatements = statement(
  'limit_statements',
  ['timeout'],
  `select set_config('statement_timeout', $1, true)`,
)

export interface FunctionAnswer extends Row {
  readonly answer: unknown
}

/**
 * Calls a function of the operator's, whose argument is json or jsonb. Its names were checked to have
 * no quotes in them.
 */
export function toFunctionCall(hook: string, schema: string, functionName: string) {
  return statement(
    `hook_${hook}`,
    ['argument'],
    `select "${schema}"."${functionName}"($1) as answer`,
  ).returning<FunctionAnswer>()
}
