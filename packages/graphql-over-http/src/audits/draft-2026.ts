import type { AuditRow } from './audit.ts'
import { type AuditRequest, GRAPHQL_TYPE, get, JSON_TYPE, post } from './audit-request.ts'
import {
  all,
  contentType,
  contentTypeLacks,
  graphqlResponse,
  has,
  header,
  lacks,
  noData,
  nonNullData,
  status,
  statusBetween,
  when,
} from './expect.ts'
import {
  coercionFailure,
  hello,
  partialSuccess,
  syntaxFailure,
  unknownOperation,
  validationFailure,
} from './operations.ts'
import { invalidTypes, withInvalid } from './parameters.ts'

// What the draft of August 2026 requires in addition to, or instead of, the drafts on which the 61
// audits are based.
// Ids: X2 and a letter for the area of the request, X3 and a letter for the kind of response.

const executed = [status(200), lacks('errors'), has('data')]
const put: AuditRequest = { ...post(hello, GRAPHQL_TYPE), method: 'PUT' }
const getMutation = get({ query: 'mutation { __typename }' }, GRAPHQL_TYPE)

const negotiation: readonly AuditRow[] = [
  {
    id: 'X2A0',
    name: 'MUST support application/graphql-response+json',
    request: post(hello, GRAPHQL_TYPE),
    expect: [status(200), contentType(GRAPHQL_TYPE)],
  },
  {
    id: 'X2A1',
    name: 'MUST use application/json when accept gives it the higher quality',
    request: post(hello, `${GRAPHQL_TYPE};q=0.1, ${JSON_TYPE};q=0.9`),
    expect: [status(200), contentType(JSON_TYPE)],
  },
  {
    id: 'X2A2',
    name: 'MUST use application/graphql-response+json when accept gives it the higher quality',
    request: post(hello, `${JSON_TYPE};q=0.1, ${GRAPHQL_TYPE};q=0.9`),
    expect: [status(200), contentType(GRAPHQL_TYPE)],
  },
  {
    id: 'X2A3',
    name: 'MUST not use application/json when accept gives it the quality 0 and allows others',
    request: post(hello, `${JSON_TYPE};q=0, */*`),
    expect: [status(200), contentTypeLacks(JSON_TYPE)],
  },
  {
    id: 'X2A4',
    name: 'MUST accept the charset utf-8 as a parameter of accept',
    request: post(hello, `${GRAPHQL_TYPE}; charset=utf-8`),
    expect: [status(200), contentType(GRAPHQL_TYPE)],
  },
  {
    id: 'X2A5',
    name: 'SHOULD name the encoding in the content-type of the response',
    request: post(hello, GRAPHQL_TYPE),
    expect: [contentType('charset=utf-8')],
  },
  {
    id: 'X2A6',
    name: 'SHOULD use 406 status code when accept allows no supported type',
    request: post(hello, 'text/html'),
    expect: [status(406)],
  },
  {
    id: 'X2C0',
    name: 'MUST accept the content-type in upper case',
    request: post(hello, GRAPHQL_TYPE, JSON_TYPE.toUpperCase()),
    expect: executed,
  },
  {
    id: 'X2C1',
    name: 'MUST accept a quoted charset in the content-type',
    request: post(hello, GRAPHQL_TYPE, `${JSON_TYPE}; charset="utf-8"`),
    expect: executed,
  },
  {
    id: 'X2C2',
    name: 'SHOULD use 415 status code on an unsupported content-type',
    request: post(hello, GRAPHQL_TYPE, 'application/xml'),
    expect: [status(415)],
  },
]

const methods: readonly AuditRow[] = [
  {
    id: 'X2M0',
    name: 'SHOULD use 405 status code on an unsupported method',
    request: put,
    expect: [status(405)],
  },
  {
    id: 'X2M1',
    name: 'MUST send the allow header with a 405 status code on an unsupported method',
    request: put,
    expect: [when(status(405), header('allow'))],
  },
  {
    id: 'X2M2',
    name: 'MUST use a 4xx status code on mutations in GETs',
    request: getMutation,
    expect: [statusBetween([400, 499])],
  },
  {
    // For a schema without mutations, a server may reject the document as invalid before it checks
    // the method.
    id: 'X2M3',
    name: 'SHOULD use 405 status code on mutations in GETs, or 422 where the schema has none',
    request: getMutation,
    expect: [status(405, 422)],
  },
  {
    id: 'X2M4',
    name: 'MUST send the allow header with a 405 status code on mutations in GETs',
    request: getMutation,
    expect: [when(status(405), header('allow'))],
  },
]

const refusals: readonly AuditRow[] = [
  ...(['string', 'array'] as const).map(
    (kind, index): AuditRow => ({
      id: `X2B${index}`,
      name: `SHOULD use 422 status code on a JSON body that is not an object but of kind ${kind}`,
      request: post(kind === 'string' ? '"string"' : [], GRAPHQL_TYPE),
      expect: [status(422)],
    }),
  ),
  {
    id: 'X2Q9',
    name: 'SHOULD use 422 status code on missing {query} parameter',
    request: post({ notquery: hello.query }, GRAPHQL_TYPE),
    expect: [status(422)],
  },
  ...Object.entries({ Q: 'query', N: 'operationName', V: 'variables', E: 'extensions' }).flatMap(
    ([letter, param]) =>
      (invalidTypes[param] ?? []).map(
        (kind, index): AuditRow => ({
          id: `X2${letter}${index}`,
          name: `SHOULD use 422 status code on ${kind} {${param}} parameter`,
          request: post(withInvalid(param, kind), GRAPHQL_TYPE),
          expect: [status(422)],
        }),
      ),
  ),
]

// Servers may not support GET, or may require a header that protects against cross-site requests.
const plainGet: AuditRow['premise'] = { request: get(hello, GRAPHQL_TYPE), expect: executed }

const optional = ['operationName', 'variables', 'extensions']

const tolerance: readonly AuditRow[] = [
  {
    id: 'X2U0',
    name: 'MUST ignore properties of the request that it does not know',
    request: post({ ...hello, unknownProperty: { some: 'value' } }, GRAPHQL_TYPE),
    expect: executed,
  },
  ...optional.map(
    (param, index): AuditRow => ({
      id: `X2L${index}`,
      name: `MUST treat null {${param}} parameter as absent`,
      request: post({ ...hello, [param]: null }, GRAPHQL_TYPE),
      expect: executed,
    }),
  ),
  ...optional.map(
    (param, index): AuditRow => ({
      id: `X2G${index}`,
      name: `MUST treat empty {${param}} parameter as absent if it accepts GETs`,
      request: get({ ...hello, [param]: '' }, GRAPHQL_TYPE),
      expect: executed,
      premise: plainGet,
    }),
  ),
  {
    id: 'X2G3',
    name: 'MUST take the {operationName} null for a name if it accepts GETs',
    request: get(
      { query: 'query null { __typename } query other { __typename }', operationName: 'null' },
      GRAPHQL_TYPE,
    ),
    expect: executed,
    premise: plainGet,
  },
  {
    id: 'X2G4',
    name: 'SHOULD use 422 status code on {variables} that is not JSON if it accepts GETs',
    request: get({ ...hello, variables: '{' }, GRAPHQL_TYPE),
    expect: [status(422)],
    premise: plainGet,
  },
]

const failures = [
  { letter: 'P', what: 'document parsing failure', params: syntaxFailure, code: 400 },
  { letter: 'V', what: 'document validation failure', params: validationFailure, code: 422 },
  { letter: 'O', what: 'undetermined operation', params: unknownOperation, code: 422 },
  { letter: 'C', what: 'variable coercion failure', params: coercionFailure, code: 422 },
]

const requestErrors = failures.flatMap(({ letter, what, params, code }): AuditRow[] => [
  {
    id: `X3${letter}0`,
    name: `MUST use 4xx or 5xx status codes on ${what}`,
    request: post(params, GRAPHQL_TYPE),
    expect: [statusBetween([400, 599])],
  },
  {
    id: `X3${letter}1`,
    name: `MUST answer ${what} with errors and without data`,
    request: post(params, GRAPHQL_TYPE),
    expect: [has('errors'), graphqlResponse, noData],
  },
  {
    id: `X3${letter}2`,
    name: `SHOULD use ${code} status code on ${what} with the accept header recommended to clients`,
    request: post(params, `${GRAPHQL_TYPE}, ${JSON_TYPE};q=0.9`),
    expect: [status(code)],
  },
  {
    id: `X3${letter}3`,
    name: `SHOULD use ${code} status code on ${what} when accepting only application/json`,
    request: post(params, JSON_TYPE),
    expect: [status(code)],
  },
  {
    id: `X3${letter}4`,
    name: `SHOULD label ${what} application/graphql-response+json when accepting only application/json`,
    request: post(params, JSON_TYPE),
    expect: [contentType(GRAPHQL_TYPE)],
  },
])

// A server with introspection disabled returns no data here, so this audit cannot fail on it.
const isPartial = all(has('data'), has('errors'))

const results: readonly AuditRow[] = [
  {
    id: 'X3S0',
    name: 'SHOULD use 294 status code on data with errors',
    request: post(partialSuccess, GRAPHQL_TYPE),
    expect: [when(isPartial, status(294))],
  },
  {
    id: 'X3S1',
    name: 'MUST use a 2xx status code on data that is not null',
    request: post(partialSuccess, GRAPHQL_TYPE),
    expect: [when(nonNullData, statusBetween([200, 299]))],
  },
  {
    id: 'X3S2',
    name: 'MUST use a 2xx status code on data that is not null when accepting only application/json',
    request: post(partialSuccess, JSON_TYPE),
    expect: [when(nonNullData, statusBetween([200, 299]))],
  },
  {
    id: 'X3S3',
    name: 'SHOULD label data with errors application/json when accepting only application/json',
    request: post(partialSuccess, JSON_TYPE),
    expect: [when(isPartial, contentType(JSON_TYPE))],
  },
  {
    id: 'X3S4',
    name: 'MUST not label a response application/graphql-response+json that is not a GraphQL response',
    request: post('{ "not a JSON', GRAPHQL_TYPE),
    expect: [when(contentType(GRAPHQL_TYPE), graphqlResponse)],
  },
]

export const draft2026: readonly AuditRow[] = [
  ...negotiation,
  ...methods,
  ...refusals,
  ...tolerance,
  ...requestErrors,
  ...results,
]
