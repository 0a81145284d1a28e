import type { Row } from './database.ts'
import { statement } from './statement.ts'

/** Applies to the rest of the transaction. The value is in milliseconds. */
export const limitStatements = statement(
  'limit_statements',
  ['timeout'],
  `select set_config('statement_timeout', $1, true)`,
)

interface FunctionAnswer extends Row {
  readonly answer: unknown
}

interface FunctionName {
  readonly schema: string
  readonly functionName: string
}

/**
 * Calls the operator's function, whose argument is json or jsonb. The names contain no quotes;
 * `parseHookUri` checks that.
 */
export function toFunctionCall(hook: string, { schema, functionName }: FunctionName) {
  return statement(
    `hook_${hook}`,
    ['argument'],
    `select "${schema}"."${functionName}"($1) as answer`,
  ).returning<FunctionAnswer>()
}
