import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
} from 'graphql'

type Result = ExecutionResult | Promise<ExecutionResult>

/** A compiled operation. */
type Run = (rootValue: unknown, contextValue: unknown, variables: object) => Result

/**
 * `compileQuery` of graphql-jit: returns a compiled query, or the errors that explain why it cannot
 * be compiled.
 */
type CompileQuery = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | undefined,
) => { readonly query: unknown } | ExecutionResult

interface Operation {
  readonly schema: GraphQLSchema
  uses: number
  /** Null if graphql-jit could not compile the operation. */
  run?: Run | null
}

/**
 * Makes an `execute` that compiles operations to functions with graphql-jit:
 *
 * ```ts
 * import { compileQuery } from 'graphql-jit'
 *
 * const handler = createHandler({ schema, execute: createCompilingExecute(compileQuery) })
 * ```
 *
 * It relies on the handler's document cache: the same source text yields the same document object,
 * and a compiled operation is kept as long as its document. Compilation is as expensive as hundreds
 * of executions, so only repeated operations are compiled. Operations that graphql-jit cannot
 * compile are executed by graphql-js.
 */
export function createCompilingExecute(compileQuery: CompileQuery, compileAtUse = 3) {
  const documents = new WeakMap<DocumentNode, Map<string, Operation>>()

  return (args: ExecutionArgs): Result => {
    const operation = findOperation(documents, args)
    if (operation.run === undefined && ++operation.uses >= compileAtUse) {
      operation.run = compile(compileQuery, args)
    }
    return operation.run
      ? operation.run(args.rootValue, args.contextValue, args.variableValues ?? {})
      : execute(args)
  }
}

/**
 * The map cannot grow without bound: the handler executes only operations that the document has.
 */
function findOperation(
  documents: WeakMap<DocumentNode, Map<string, Operation>>,
  { schema, document, operationName }: ExecutionArgs,
): Operation {
  const operations = documents.get(document) ?? new Map<string, Operation>()
  const known = operations.get(operationName ?? '')
  if (known?.schema === schema) return known

  const operation: Operation = { schema, uses: 0 }
  documents.set(document, operations.set(operationName ?? '', operation))
  return operation
}

function compile(
  compileQuery: CompileQuery,
  { schema, document, operationName }: ExecutionArgs,
): Run | null {
  try {
    const compiled = compileQuery(schema, document, operationName ?? undefined)
    const isCompiled = 'query' in compiled && typeof compiled.query === 'function'
    return isCompiled ? (compiled.query as Run) : null
  } catch {
    return null
  }
}
