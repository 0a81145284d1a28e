import type { AuditRow } from './audit.ts'
import { GRAPHQL_TYPE, JSON_TYPE, post } from './audit-request.ts'
import { noData, status, statusBetween } from './expect.ts'
import { syntaxFailure } from './operations.ts'

const notJson = '{ "not a JSON'
const misspelt = { qeury: '{ __typename }' }
// A name cannot start with a digit, so this is a syntax error although the audits call it a
// validation failure. The unused variable is a validation error although the audits call it a
// coercion failure. Published ids keep their meaning; the extended audits test what these names
// say.
const digitField = { query: '{ 8f31403dfe404bccbb0e835f2629c6a7 }' }
const unusedVariable = {
  query: 'query CoerceFailure($id: ID!){ __typename }',
  variables: { id: null },
}

/** Chapter "Response" of the HTTP spec: the status codes of failures. */
export const responses: readonly AuditRow[] = [
  {
    id: 'B6DC',
    name: 'MAY use 2xx, 4xx, or 5xx status codes on JSON parsing failure when accepting application/json',
    request: post(notJson, JSON_TYPE),
    expect: [statusBetween([200, 299], [400, 499], [500, 599])],
  },
  {
    id: 'BCF8',
    name: 'SHOULD use 400 status code on JSON parsing failure when accepting application/json',
    request: post(notJson, JSON_TYPE),
    expect: [status(400)],
  },
  {
    id: 'B7N8',
    name: 'SHOULD use 400 status code on JSON parsing failure when accepting application/graphql-response+json',
    request: post(notJson, GRAPHQL_TYPE),
    expect: [status(400)],
  },
  {
    id: '8764',
    name: 'MAY use 4xx or 5xx status codes if parameters are invalid',
    request: post(misspelt),
    expect: [statusBetween([400, 599])],
  },
  {
    id: '3E3A',
    name: 'MAY use 400 status code if parameters are invalid',
    request: post(misspelt),
    expect: [status(400)],
    profile: 'classic',
  },
  {
    id: '572B',
    name: 'SHOULD use 200 status code on document parsing failure when accepting application/json',
    request: post(syntaxFailure, JSON_TYPE),
    expect: [status(200)],
    profile: 'classic',
  },
  {
    id: 'FDE2',
    name: 'SHOULD use 200 status code on document validation failure when accepting application/json',
    request: post(digitField, JSON_TYPE),
    expect: [status(200)],
    profile: 'classic',
  },
  {
    id: '7B9B',
    name: 'SHOULD use a status code of 200 on variable coercion failure when accepting application/json',
    request: post(unusedVariable, JSON_TYPE),
    expect: [status(200)],
    profile: 'classic',
  },
  {
    id: '865D',
    name: 'SHOULD use 4xx or 5xx status codes on document parsing failure when accepting application/graphql-response+json',
    request: post(syntaxFailure, GRAPHQL_TYPE),
    expect: [statusBetween([400, 599])],
  },
  {
    id: '556A',
    name: 'SHOULD use 400 status code on document parsing failure when accepting application/graphql-response+json',
    request: post(syntaxFailure, GRAPHQL_TYPE),
    expect: [status(400)],
  },
  {
    id: 'D586',
    name: 'SHOULD not contain the data entry on document parsing failure when accepting application/graphql-response+json',
    request: post(syntaxFailure, GRAPHQL_TYPE),
    expect: [noData],
  },
  {
    id: '51FE',
    name: 'SHOULD use 4xx or 5xx status codes on document validation failure when accepting application/graphql-response+json',
    request: post(digitField, GRAPHQL_TYPE),
    expect: [statusBetween([400, 599])],
  },
  {
    id: '74FF',
    name: 'SHOULD use 400 status code on document validation failure when accepting application/graphql-response+json',
    request: post(digitField, GRAPHQL_TYPE),
    expect: [status(400)],
  },
  {
    id: '5E5B',
    name: 'SHOULD not contain the data entry on document validation failure when accepting application/graphql-response+json',
    request: post(digitField, GRAPHQL_TYPE),
    expect: [noData],
  },
  {
    id: '86EE',
    name: 'SHOULD use a status code of 400 on variable coercion failure when accepting application/graphql-response+json',
    request: post(unusedVariable, GRAPHQL_TYPE),
    expect: [status(400)],
    profile: 'classic',
  },
]
