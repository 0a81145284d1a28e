import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { createGrpcServer, type Methods, status } from '@portcullis/grpc-unary'
import { createAuthority } from '@portcullis/test-servers'
import { client } from '../../src/commands/client.ts'
import { decodeRequest } from '../../src/protocol/decode.ts'
import { encodeResponse } from '../../src/protocol/encode.ts'
import { OK, OVER_LIMIT, type RateLimitRequest } from '../../src/protocol/message.ts'
import { runCommand } from '../support/run-command.ts'

const run = (...args: string[]) => runCommand(client, args)

/** A server that allows two hits, refuses an empty domain, and records its requests. */
function createMethods() {
  const received: RateLimitRequest[] = []
  const methods: Methods = {
    '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit': {
      kind: 'unary',
      handle(call) {
        const request = decodeRequest(call.buffer, call.start, call.end)
        received.push(request)
        if (request.domain === '') {
          call.fail(status.UNKNOWN, 'rate limit domain must not be empty')
          return
        }
        const code = received.length > 2 ? OVER_LIMIT : OK
        const { buffer, length } = encodeResponse({
          overallCode: code,
          statuses: request.descriptors.map(() => ({
            code,
            currentLimit: { requestsPerUnit: 2, unit: 3, name: '' },
            limitRemaining: Math.max(0, 2 - received.length),
            resetSeconds: 60,
          })),
          responseHeadersToAdd: [],
          dynamicMetadata: undefined,
        })
        call.send(buffer, 0, length)
      },
    },
  }
  return { received, methods }
}

async function openServer(t: TestContext) {
  const { received, methods } = createMethods()
  const server = createGrpcServer({ methods })
  t.after(() => server.close())
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  assert.ok('port' in bound)
  return { received, address: `127.0.0.1:${bound.port}` }
}

suite('the client command', () => {
  test('prints its flags and the response, like the client of envoyproxy/ratelimit', async (t) => {
    const { received, address } = await openServer(t)
    const { code, out, err } = await run(
      '-dial_string',
      address,
      '--domain=mongo_cps',
      '-descriptors',
      'database=users,kind=read',
      '--descriptors=database=default',
    )
    assert.equal(err, '')
    assert.equal(code, 0)
    assert.equal(
      out,
      'Flag: --count="1"\n' +
        'Flag: --descriptors="[ <key=database, value=users> <key=kind, value=read> ]' +
        '[ <key=database, value=default> ]"\n' +
        `Flag: --dial_string="${address}"\n` +
        'Flag: --domain="mongo_cps"\n' +
        'Flag: --grpc-cert-file=""\n' +
        'Flag: --grpc-key-file=""\n' +
        'Flag: --grpc-server-ca-file=""\n' +
        'Flag: --grpc-use-tls="false"\n' +
        'Flag: --hits_addend="1"\n' +
        'Flag: --json="false"\n' +
        'Flag: --oltp-protocol=""\n' +
        'response: overall_code:OK ' +
        'statuses:{code:OK current_limit:{requests_per_unit:2 unit:HOUR} ' +
        'limit_remaining:1 duration_until_reset:{seconds:60}} ' +
        'statuses:{code:OK current_limit:{requests_per_unit:2 unit:HOUR} ' +
        'limit_remaining:1 duration_until_reset:{seconds:60}}\n',
    )
    const common = { limit: undefined, hitsAddend: undefined, isNegativeHits: false }
    assert.deepEqual(received, [
      {
        domain: 'mongo_cps',
        descriptors: [
          {
            entries: [
              { key: 'database', value: 'users' },
              { key: 'kind', value: 'read' },
            ],
            ...common,
          },
          { entries: [{ key: 'database', value: 'default' }], ...common },
        ],
        hitsAddend: 1,
      },
    ])
  })

  test('makes several calls with hits, in JSON, and succeeds for OVER_LIMIT too', async (t) => {
    const { received, address } = await openServer(t)
    const flags = ['-dial_string', address, '-domain', 'd', '-descriptors', 'k=']
    const { code, out } = await run(...flags, '-count', '3', '-hits_addend=7', '-json')
    assert.equal(code, 0)
    const lines = out.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).overallCode),
      ['OK', 'OK', 'OVER_LIMIT'],
    )
    assert.deepEqual(
      received.map(({ hitsAddend }) => hitsAddend),
      [7, 7, 7],
    )
    assert.deepEqual(received[0]?.descriptors[0]?.entries, [{ key: 'k', value: '' }])
  })

  test('shows an error of the server with its code, and exits with 1', async (t) => {
    const { address } = await openServer(t)
    const { code, out } = await run('-dial_string', address, '-descriptors', 'k=v')
    assert.equal(code, 1)
    assert.match(
      out,
      /\nrequest error: rpc error: code = Unknown desc = rate limit domain must not be empty\n$/,
    )
  })

  test('says why it cannot connect, and exits with 1', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((closed) => server.close(closed))
    const refused = await run('-dial_string', `127.0.0.1:${port}`, '-domain', 'd')
    assert.equal(refused.code, 1)
    assert.match(refused.out, /\nerror connecting: 127\.0\.0\.1:\d+: connect ECONNREFUSED .*\n$/)
    const noAddress = await run('-dial_string', 'nowhere')
    assert.equal(noAddress.code, 1)
    assert.match(noAddress.out, /\nerror connecting: "nowhere" is not an address: .*\n$/)
  })

  test('a response that is not protobuf is an error, not a crash', async (t) => {
    const methods: Methods = {
      '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit': {
        kind: 'unary',
        handle: (call) => call.send(Buffer.from([0xff]), 0, 1),
      },
    }
    const server = createGrpcServer({ methods })
    t.after(() => server.close())
    const bound = await server.listen({ host: '127.0.0.1', port: 0 })
    assert.ok('port' in bound)
    const { code, out } = await run('-dial_string', `127.0.0.1:${bound.port}`, '-json')
    assert.equal(code, 1)
    assert.match(out, /^request error: rpc error: code = Internal desc = the response is malformed/)
  })

  test('invalid arguments are reported on standard error, and exit with 2', async () => {
    const mistakes: readonly (readonly [string[], string])[] = [
      [
        ['-descriptors', 'a=b,c'],
        '-descriptors must be KEY=VALUE, or several of these separated by commas, not "a=b,c".',
      ],
      [
        ['-descriptors=a=b=c'],
        '-descriptors must be KEY=VALUE, or several of these separated by commas, not "a=b=c".',
      ],
      [
        ['-descriptors', ''],
        '-descriptors must be KEY=VALUE, or several of these separated by commas, not "".',
      ],
      [['-domain'], '-domain needs a value.'],
      [['-dommain', 'x'], 'Unknown option -dommain.'],
      [['extra'], 'Unexpected argument "extra".'],
      [['-grpc-use-tls=maybe'], '-grpc-use-tls must be true or false, not "maybe".'],
      [['-count', '-1'], '-count must be a whole number from 0 to 4294967295, not "-1".'],
      [['-grpc-cert-file', 'x.pem'], '-grpc-cert-file and -grpc-key-file must be set together.'],
    ]
    for (const [args, message] of mistakes) {
      const { code, out, err } = await run(...args)
      assert.equal(code, 2)
      assert.equal(out, '')
      assert.equal(err, `${message}\nSee: ratelimit client --help\n`)
    }
  })

  test('uses TLS and presents its certificate', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'client-tls-'))
    t.after(() => rm(folder, { recursive: true }))
    const authority = createAuthority('clients and servers')
    const own = authority.issue('client')
    const file = async (name: string, content: string) => {
      await writeFile(join(folder, name), content)
      return join(folder, name)
    }
    const ca = await file('ca.pem', authority.certificate)
    const certificate = await file('cert.pem', own.certificate)
    const key = await file('key.pem', own.key)

    const { key: serverKey, certificate: serverCertificate } = authority.issue('127.0.0.1')
    const server = createGrpcServer({
      methods: createMethods().methods,
      tls: {
        key: serverKey,
        cert: serverCertificate,
        ca: authority.certificate,
        requestCert: true,
      },
    })
    t.after(() => server.close())
    const bound = await server.listen({ host: '127.0.0.1', port: 0 })
    assert.ok('port' in bound)
    const address = `127.0.0.1:${bound.port}`
    const flags = ['-dial_string', address, '-domain', 'd', '-descriptors', 'k=v', '-json']
    const tls = ['-grpc-use-tls', '-grpc-server-ca-file', ca]

    const trusted = await run(
      ...flags,
      ...tls,
      '-grpc-cert-file',
      certificate,
      '-grpc-key-file',
      key,
    )
    assert.equal(trusted.out.slice(0, 20), '{"overallCode":"OK",')
    assert.equal(trusted.code, 0)

    const nameless = await run(...flags, ...tls)
    assert.equal(nameless.code, 1)
    assert.match(nameless.out, /^(request error: rpc error|error connecting)/)

    const untrusted = await run(...flags, '-grpc-use-tls')
    assert.equal(untrusted.code, 1)
    assert.match(untrusted.out, /^error connecting: .*certificate/)

    const missing = await run(...flags, '-grpc-use-tls', '-grpc-server-ca-file', `${ca}x`)
    assert.equal(missing.code, 1)
    assert.match(missing.out, /^error connecting: ENOENT.*ca\.pemx/)

    const plain = await run(...flags, '-grpc-server-ca-file', ca)
    assert.equal(plain.code, 1)
    assert.match(plain.err, /ignored without -grpc-use-tls/)
  })

  test('the usage lists every flag', () => {
    for (const name of ['dial_string', 'domain', 'descriptors', 'grpc-use-tls', 'hits_addend']) {
      assert.match(client.usage, new RegExp(`^  -${name}\\b`, 'm'))
    }
  })
})
