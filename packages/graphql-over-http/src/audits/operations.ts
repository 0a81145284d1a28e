/** The operations that audits send. Each succeeds, or fails in one known way, on any schema. */

export const hello = { query: '{ __typename }' }

/** Uses introspection, which some servers disable. */
export const typeByName = {
  query: 'query Type($name: String!) { __type(name: $name) { name } }',
  variables: { name: 'sometype' },
}

/** Has a map of variables, but does not use introspection. */
export const withVariables = {
  query: 'query ($skip: Boolean!) { __typename @skip(if: $skip) }',
  variables: { skip: false },
}

export const syntaxFailure = { query: '{' }

export const validationFailure = { query: '{ unknownField8f31403dfe404bcc }' }

export const coercionFailure = {
  query: 'query ($skip: Boolean!) { __typename @skip(if: $skip) }',
  variables: { skip: null },
}

export const unknownOperation = { query: 'query A { __typename }', operationName: 'B' }

/**
 * Returns data with an error, on any schema with introspection: a nullable variable with a default
 * is valid where a value is required, and passing null then fails the field instead of the request.
 */
export const partialSuccess = {
  query: 'query ($name: String = "Query") { __typename __type(name: $name) { name } }',
  variables: { name: null },
}
