/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { auditServer, discardBodies, serverAudits } from '../src/audits/index.ts'
import {
  createAuditFetch,
  type Exchange,
  type ResponseReason,
  startAuditServer,
} from './support/audit-server.ts'

// Each row breaks one rule of an otherwise perfect server, and names the audits that must detect
// it. All other audits must pass: an audit that fails because of another rule is wrong.
type Mutation = readonly [rule: string, spoil: (exchange: Exchange) => void, fails: string]

interface Change {
  readonly status?: number
  readonly type?: string
  readonly body?: string | Uint8Array<ArrayBuffer>
}

type Matcher = (exchange: Exchange) => boolean

function on(
  match: ResponseReason | Matcher,
  { status, type, body }: Change,
): (x: Exchange) => void {
  return (x) => {
    if (!(typeof match === 'string' ? x.situation === match : match(x))) return
    if (status !== undefined) x.status = status
    if (type !== undefined) x.responseHeaders['content-type'] = type
    if (body !== undefined) x.responseBody = body
  }
}

const url = 'http://host/graphql'
const JSON_TYPE = 'application/json; charset=utf-8'
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8'
const NOT_UTF8 = Uint8Array.of(0x22, 0xff, 0xfe, 0x22)
const WITH_DATA = '{"data":{},"errors":[{"message":"no"}]}'

const isJson: Matcher = ({ accepted }) => accepted === 'application/json'
const isSuccess: Matcher = ({ situation }) => situation === 'success'
const param = (x: Exchange, name: string): unknown => x.params?.[name]
const contentType = (x: Exchange): string => x.headers['content-type'] ?? ''
const isWrong = (name: string): Matcher => {
  return (x) => x.situation === 'malformed' && param(x, name) !== undefined
}

const classic: readonly Mutation[] = [
  [
    'fails on every POST',
    on((x) => x.method === 'POST' && isSuccess(x), { status: 500 }),
    '22EB 4655 47DE 80D8 82A3 BF61 78D5 2C94 03D4 34A2 13EE 8161 B8B3 94B0 0220 94B1 0221 94B2 0222 2EA1 28B9 428F 1B7A X103 X105 X106 X107',
  ],
  ['labels every result application/json', on('success', { type: JSON_TYPE }), '22EB'],
  ['labels JSON text/plain', on(isJson, { type: 'text/plain' }), '4655 47DE 80D8'],
  [
    'answers */* with application/graphql-response+json',
    on((x) => x.headers['accept'] === '*/*', { type: GRAPHQL_TYPE }),
    '47DE 80D8',
  ],
  [
    'sends bytes that are not utf-8',
    on((x) => x.headers['accept'] === '*/*' && isSuccess(x), { body: NOT_UTF8 }),
    'X103',
  ],
  [
    'repeats text of the request in another encoding',
    on((x) => String(x.responseBody).includes('🏃'), { body: NOT_UTF8 }),
    'X104',
  ],
  [
    'refuses a charset in the content-type',
    on((x) => contentType(x).startsWith('application/json;'), { status: 415 }),
    'BF61 X105',
  ],
  [
    'does not accept GETs',
    on((x) => x.method === 'GET' && isSuccess(x), { status: 405 }),
    '5A70 D6D5 6A70 X108 X109',
  ],
  ['runs mutations over GET', on('mutation over GET', { status: 200 }), '9C48'],
  [
    'takes text/plain for JSON',
    on((x) => contentType(x).startsWith('text/plain'), { status: 200 }),
    '9ABE',
  ],
  [
    'takes a missing content-type for JSON',
    on((x) => x.method === 'POST' && contentType(x) === '', { status: 200 }),
    'X102',
  ],
  ['fails on a missing body', on('missing body', { status: 500 }), 'A5BF'],
  [
    'executes without a query',
    on((x) => x.situation === 'malformed' && param(x, 'query') === undefined, { status: 200 }),
    '423L 8764 3E3A',
  ],
  [
    'fails on a query of the wrong type',
    on((x) => x.params !== undefined && typeof (param(x, 'query') ?? '') !== 'string', {
      status: 500,
    }),
    'LKJ0 LKJ1 LKJ2 LKJ3',
  ],
  [
    'ignores an operation name of the wrong type',
    on(isWrong('operationName'), { status: 200 }),
    '6C00 6C01 6C02 6C03',
  ],
  [
    'ignores variables of the wrong type',
    on(isWrong('variables'), { status: 200 }),
    '4760 4761 4762 4763',
  ],
  [
    'ignores extensions of the wrong type',
    on(isWrong('extensions'), { status: 200 }),
    '58B0 58B1 58B2 58B3',
  ],
  [
    'refuses null variables',
    on((x) => param(x, 'variables') === null, { body: '{"errors":[{"message":"no"}]}' }),
    '94B0 0220',
  ],
  [
    'refuses a null operation name',
    on((x) => param(x, 'operationName') === null, { status: 400 }),
    '94B1 0221',
  ],
  [
    'answers null extensions with text',
    on((x) => param(x, 'extensions') === null, { body: 'oops' }),
    '94B2 0222',
  ],
  [
    'refuses extensions',
    on((x) => isSuccess(x) && Boolean(param(x, 'extensions')), { status: 400 }),
    '428F 1B7A',
  ],
  [
    'refuses an operation name',
    on((x) => isSuccess(x) && Boolean(param(x, 'operationName')), { status: 400 }),
    '8161 B8B3',
  ],
  [
    'answers introspection with an error beside the data',
    on((x) => String(x.responseBody).includes('__type"'), { body: WITH_DATA }),
    '28B9 D6D5 6A70',
  ],
  [
    'refuses variables',
    on((x) => isSuccess(x) && Boolean(param(x, 'variables')), { status: 500 }),
    '2EA1 28B9 D6D5 6A70 X106 X107 X108 X109',
  ],
  [
    'answers a body that is not JSON with nothing new',
    on('unparsable body', { status: 304 }),
    'B6DC BCF8 B7N8',
  ],
  ['fails on a body that is not JSON', on('unparsable body', { status: 500 }), 'BCF8 B7N8'],
  ['uses 400 on syntax errors in JSON', on('syntax error', { status: 400 }), '572B FDE2'],
  ['uses 400 on validation errors in JSON', on('validation error', { status: 400 }), '7B9B X110'],
  ['uses 400 on coercion errors in JSON', on('coercion error', { status: 400 }), 'X114'],
  ['uses 200 on syntax errors', on('syntax error', { status: 200 }), '865D 556A 51FE 74FF'],
  [
    'uses 500 on syntax errors',
    on((x) => x.situation === 'syntax error' && !isJson(x), { status: 500 }),
    '556A 74FF',
  ],
  ['has data beside syntax errors', on('syntax error', { body: WITH_DATA }), 'D586 5E5B'],
  ['uses 200 on validation errors', on('validation error', { status: 200 }), '86EE X111 X112'],
  ['has data beside validation errors', on('validation error', { body: WITH_DATA }), 'X113'],
  ['uses 200 on coercion errors', on('coercion error', { status: 200 }), 'X115'],
  [
    'answers with JSON that is not an object',
    on((x) => isJson(x) && isSuccess(x) && Boolean(param(x, 'extensions')), { body: 'null' }),
    '1B7A',
  ],
]

const draft2026: readonly Mutation[] = [
  [
    'does not know application/graphql-response+json',
    on((x) => isSuccess(x) && x.headers['accept'] === GRAPHQL_TYPE.split(';')[0], {
      type: JSON_TYPE,
    }),
    '22EB X2A0',
  ],
  [
    'takes the first type of accept whatever its quality',
    (x) => {
      const { accept = '' } = x.headers
      if (!accept.includes('q=0') || x.status >= 400) return
      x.responseHeaders['content-type'] = `${accept.split(';', 1)}; charset=utf-8`
    },
    'X2A1 X2A2 X2A3',
  ],
  [
    'refuses parameters in accept',
    on((x) => x.headers['accept']?.includes('charset') ?? false, { status: 406 }),
    'X2A4',
  ],
  [
    'does not name the encoding',
    (x) => {
      const [type = ''] = x.responseHeaders['content-type']?.split(';') ?? []
      x.responseHeaders['content-type'] = type
    },
    'X2A5',
  ],
  ['ignores an accept it cannot meet', on('not acceptable', { status: 200 }), 'X2A6'],
  [
    'compares media types by case',
    on((x) => contentType(x) === 'APPLICATION/JSON', { status: 415 }),
    'X2C0',
  ],
  [
    'does not know quoted parameters',
    on((x) => contentType(x).includes('"'), { status: 415 }),
    'X2C1',
  ],
  ['uses 400 on content types', on('wrong media type', { status: 400 }), 'X2C2'],
  ['uses 404 on methods', on('wrong method', { status: 404 }), 'X2M0'],
  [
    'does not say which methods it allows',
    (x) => {
      delete x.responseHeaders['allow']
    },
    'X2M1 X2M4',
  ],
  ['runs mutations over GET', on('mutation over GET', { status: 200 }), '9C48 X2M2 X2M3'],
  ['uses 400 on mutations over GET', on('mutation over GET', { status: 400 }), 'X2M3'],
  [
    'does not accept GETs',
    on((x) => x.method === 'GET' && x.situation !== 'mutation over GET', { status: 405 }),
    '5A70 D6D5 6A70 X108 X109',
  ],
  [
    'refuses GETs without a header against cross-site requests',
    on((x) => x.method === 'GET' && x.situation !== 'mutation over GET', { status: 403 }),
    '5A70 D6D5 6A70 X108 X109',
  ],
  [
    'uses 400 on malformed requests',
    on('malformed', { status: 400 }),
    'X2B0 X2B1 X2Q9 X2Q0 X2Q1 X2Q2 X2Q3 X2N0 X2N1 X2N2 X2N3 X2V0 X2V1 X2V2 X2V3 X2E0 X2E1 X2E2 X2E3 X2G4',
  ],
  [
    'refuses properties it does not know',
    on((x) => param(x, 'unknownProperty') !== undefined, { status: 422 }),
    'X2U0',
  ],
  [
    'refuses a null operation name',
    on((x) => param(x, 'operationName') === null, { status: 422 }),
    '94B1 0221 X2L0',
  ],
  [
    'refuses null variables',
    on((x) => param(x, 'variables') === null, { status: 422 }),
    '94B0 0220 X2L1',
  ],
  [
    'refuses null extensions',
    on((x) => param(x, 'extensions') === null, { status: 422 }),
    '94B2 0222 X2L2',
  ],
  [
    'looks for an operation without a name',
    on((x) => x.url.endsWith('operationName='), { status: 422 }),
    'X2G0',
  ],
  [
    'reads empty variables as JSON',
    on((x) => x.url.endsWith('variables='), { status: 422 }),
    'X2G1',
  ],
  [
    'reads empty extensions as JSON',
    on((x) => x.url.endsWith('extensions='), { status: 422 }),
    'X2G2',
  ],
  [
    'takes the operation name null for no name',
    on((x) => x.url.includes('operationName=null'), { status: 422 }),
    'X2G3',
  ],
  [
    'uses 200 on syntax errors in JSON',
    on((x) => x.situation === 'syntax error' && isJson(x), { status: 200 }),
    'X3P3',
  ],
  [
    'uses 200 on syntax errors',
    on('syntax error', { status: 200 }),
    '865D 556A 51FE 74FF X3P0 X3P2 X3P3',
  ],
  ['has no messages in its errors', on('syntax error', { body: '{"errors":[]}' }), 'X3P1'],
  ['uses 400 on validation errors', on('validation error', { status: 400 }), 'X3V2 X3V3'],
  ['uses 200 on validation errors', on('validation error', { status: 200 }), 'X111 X3V0 X3V2 X3V3'],
  ['has data beside validation errors', on('validation error', { body: WITH_DATA }), 'X113 X3V1'],
  ['uses 200 on unknown operations', on('unknown operation', { status: 200 }), 'X3O0 X3O2 X3O3'],
  ['says nothing about unknown operations', on('unknown operation', { body: '{}' }), 'X3O1'],
  ['uses 200 on coercion errors', on('coercion error', { status: 200 }), 'X3C0 X3C2 X3C3'],
  ['has data beside coercion errors', on('coercion error', { body: WITH_DATA }), 'X3C1'],
  [
    'labels errors application/json',
    on((x) => isJson(x) && x.status >= 400, { type: JSON_TYPE }),
    'X3P4 X3V4 X3O4 X3C4',
  ],
  ['uses 200 on data with errors', on('partial success', { status: 200 }), 'X3S0'],
  ['uses 500 on data with errors', on('partial success', { status: 500 }), 'X3S0 X3S1 X3S2'],
  [
    'labels JSON as application/graphql-response+json',
    on('partial success', { type: GRAPHQL_TYPE }),
    'X3S3',
  ],
  [
    'labels plain text application/graphql-response+json',
    on('unparsable body', { body: 'That is not JSON' }),
    'X3S4',
  ],
]

const suites = [
  { profile: 'classic', mutations: classic },
  { profile: '2026', mutations: draft2026 },
] as const

const toIds = (mutations: readonly Mutation[]): string[] =>
  mutations.flatMap(([, , fails]) => fails.split(' '))

for (const { profile, mutations } of suites) {
  describe(`a server of the ${profile} profile that`, () => {
    for (const [rule, spoil, fails] of mutations) {
      test(`${rule} fails exactly ${fails}`, async () => {
        const fetchFn = createAuditFetch({ profile, spoil })
        const results = await auditServer({ url, fetchFn, profile, extended: true })
        const failed = results.filter(({ status }) => status !== 'ok')
        assert.deepEqual(
          failed.map(({ id }) => id),
          fails.split(' '),
        )
        await discardBodies(results)
      })
    }
  })

  test(`there is a mutation for each audit of the ${profile} profile`, () => {
    // Rules that both profiles share need not be broken twice.
    const covered = [...toIds(mutations), ...toIds(classic)]
    const audits = serverAudits({ url, fetchFn: fetch, profile, extended: true })
    assert.deepEqual(
      audits.filter(({ id }) => !covered.includes(id)),
      [],
    )
  })
}

test('a request that really has no accept header is reported with its response', async (t) => {
  const server = await startAuditServer({
    spoil: on((x) => x.headers['accept'] === undefined, { type: GRAPHQL_TYPE }),
  })
  t.after(() => server.close())
  const results = await auditServer({ url: server.url, extended: true })
  const failed = results.filter(({ status }) => status !== 'ok')
  await discardBodies(results)
  assert.deepEqual(
    failed.map(({ id }) => id),
    ['X101'],
  )
})
