import type { AuditRow } from './audit.ts'
import { GRAPHQL_TYPE, get, post } from './audit-request.ts'
import { status, statusBetween } from './expect.ts'
import { hello } from './operations.ts'

/** Chapter "Request" of the HTTP spec, sections GET and POST. */
export const methods: readonly AuditRow[] = [
  {
    id: '2C94',
    name: 'MUST accept POST requests',
    request: post(hello),
    expect: [status(200)],
  },
  {
    id: '5A70',
    name: 'MAY accept application/x-www-form-urlencoded formatted GET requests',
    request: get(hello),
    expect: [status(200)],
  },
  {
    id: '9C48',
    name: 'MAY NOT allow executing mutations on GET requests',
    request: get({ query: 'mutation { __typename }' }, GRAPHQL_TYPE),
    expect: [statusBetween([400, 499])],
  },
  {
    id: '9ABE',
    name: 'SHOULD respond with 4xx status code if content-type is not supplied on POST requests',
    request: { method: 'POST', body: JSON.stringify(hello) },
    expect: [statusBetween([400, 499])],
  },
  {
    id: '03D4',
    name: 'MUST accept application/json POST requests',
    request: post(hello),
    expect: [status(200)],
  },
]
