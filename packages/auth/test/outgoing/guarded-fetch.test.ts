import assert from 'node:assert/strict'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { classifyAddress } from '../../src/outgoing/address-check.ts'
import {
  type FetchSettings,
  fetchGuarded,
  type ResolvedAddress,
} from '../../src/outgoing/guarded-fetch.ts'

test('addresses outside the public internet are recognized in every spelling', async (t) => {
  const classes = {
    internal: [
      ...['127.0.0.1', '127.255.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
      ...['100.64.0.1', '::1', '0:0:0:0:0:0:0:1', 'fc00::1', 'fd12:3456::1', '::ffff:127.0.0.1'],
      ...['::ffff:7f00:1', '0:0:0:0:0:ffff:10.0.0.1', '::FFFF:192.168.0.1'],
    ],
    forbidden: [
      ...['0.0.0.0', '169.254.169.254', '169.254.170.2', '192.0.0.192', '100.100.100.200'],
      ...['224.0.0.1', '255.255.255.255', '198.18.0.1', '::', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
      ...['fec0::1', 'fd00:ec2::254', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::127.0.0.1'],
      ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::1', '100::1', 'nonsense'],
    ],
    public: ['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'],
  } as const
  for (const [addressClass, addresses] of Object.entries(classes)) {
    for (const address of addresses) {
      await t.test(`${address} is ${addressClass}`, () =>
        assert.equal(classifyAddress(address), addressClass),
      )
    }
  }
})

const settings: FetchSettings = { timeoutMs: 60_000, maxBytes: 1_000, internalHosts: [] }

async function openServer(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createHttp(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A resolver that returns one result after the other; the last one is repeated. */
function createDns(answers: Readonly<Record<string, readonly string[]>>) {
  const hosts: string[] = []
  const resolve = async (host: string): Promise<readonly ResolvedAddress[]> => {
    hosts.push(host)
    return (answers[host] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
  }
  return { hosts, resolve }
}

test('a page on an allowed internal host is fetched', async (t) => {
  const port = await openServer(t, (request, response) =>
    response.end(`<p>${request.headers.host}`),
  )
  const url = new URL(`http://localhost:${port}/a`)
  const text = await fetchGuarded(url, { ...settings, internalHosts: ['localhost'] })
  assert.equal(text, `<p>localhost:${port}`)
})

test('no request is sent to the internal network', async (t) => {
  let requests = 0
  const port = await openServer(t, (_, response) => {
    requests++
    response.end('secret')
  })
  const dns = createDns({
    'a.example': ['127.0.0.1'],
    'mixed.example': ['1.1.1.1', '127.0.0.1'],
    'six.example': ['::1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'metadata.example': ['169.254.169.254'],
  })
  for (const host of [
    ...[
      'localhost',
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '0.0.0.0',
    ],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '169.254.169.254', '10.0.0.1', '192.168.0.1'],
    ...['[fd00:ec2::254]', '[fe80::1]', '[64:ff9b::7f00:1]', '127.0.0.1.'],
  ]) {
    await t.test(host, async () => {
      const url = new URL(`http://${host}:${port}/`)
      await assert.rejects(fetchGuarded(url, settings), /is not a public address/)
    })
  }
  for (const host of ['a', 'mixed', 'six', 'mapped', 'metadata']) {
    await t.test(`${host}.example`, async () => {
      const url = new URL(`http://${host}.example:${port}/`)
      const fetched = fetchGuarded(url, { ...settings, resolve: dns.resolve })
      await assert.rejects(fetched, /is not a public address/)
    })
  }
  assert.equal(requests, 0)
})

test('a metadata service is refused even if its host is allowed', async () => {
  const dns = createDns({ 'site.example': ['169.254.169.254'] })
  const allowed = { ...settings, internalHosts: ['site.example'], resolve: dns.resolve }
  await assert.rejects(fetchGuarded(new URL('http://site.example/'), allowed), /169\.254\.169\.254/)
})

test('a redirect is checked like the first URL', async (t) => {
  const targets: Record<string, string> = {}
  const port = await openServer(t, (request, response) => {
    const location = targets[request.url ?? '']
    if (location === undefined) response.end('here')
    else response.writeHead(302, { location }).end()
  })
  Object.assign(targets, {
    '/own': '/page',
    '/other': `http://other.example:${port}/page`,
    '/metadata': 'http://169.254.169.254/latest',
    '/file': 'file:///etc/passwd',
    '/loop': '/loop',
  })
  const dns = createDns({ 'site.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] })
  const allowed = { ...settings, internalHosts: ['site.example'], resolve: dns.resolve }
  const fetchPath = (path: string) =>
    fetchGuarded(new URL(path, `http://site.example:${port}`), allowed)
  assert.equal(await fetchPath('/own'), 'here')
  await assert.rejects(fetchPath('/other'), /other\.example is at 127\.0\.0\.1/)
  await assert.rejects(fetchPath('/metadata'), /169\.254\.169\.254/)
  await assert.rejects(fetchPath('/file'), /neither http nor https/)
  await assert.rejects(fetchPath('/loop'), /more than 3 redirects/)
})

test('a redirect from a public host to an allowed internal host is refused', async (t) => {
  const port = await openServer(t, (request, response) => {
    if (request.url === '/page') response.end('secret')
    else response.writeHead(302, { location: `http://site.example:${port}/page` }).end()
  })
  const dns = createDns({ 'site.example': ['127.0.0.1'], 'start.example': ['127.0.0.1'] })
  const internalHosts = ['site.example', 'start.example']
  const url = new URL(`http://start.example:${port}/`)
  await assert.rejects(
    fetchGuarded(url, { ...settings, internalHosts, resolve: dns.resolve }),
    /site\.example is at 127\.0\.0\.1/,
  )
})

test('the connection uses the address that was checked', async (t) => {
  const port = await openServer(t, (_, response) => response.end('checked'))
  const dns = createDns({ 'site.example': ['127.0.0.1'] })
  const url = new URL(`http://site.example:${port}/`)
  const allowed = { ...settings, internalHosts: ['site.example'], resolve: dns.resolve }
  assert.equal(await fetchGuarded(url, allowed), 'checked')
  assert.deepEqual(dns.hosts, ['site.example'])
})

test('an invalid response is an error with its reason', async (t) => {
  const port = await openServer(t, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(1_001))
    else if (request.url === '/exact') response.end('x'.repeat(1_000))
    else if (request.url === '/slow') response.write('x')
    else if (request.url === '/cut') {
      response.writeHead(200, { 'content-length': '10' })
      response.write('x', () => response.destroy())
    } else response.writeHead(404).end()
  })
  const allowed = { ...settings, internalHosts: ['127.0.0.1'] }
  const fetchPath = (path: string, more: Partial<FetchSettings> = {}) =>
    fetchGuarded(new URL(path, `http://127.0.0.1:${port}`), { ...allowed, ...more })
  assert.equal((await fetchPath('/exact')).length, 1_000)
  await assert.rejects(fetchPath('/long'), /longer than 1000 bytes/)
  await assert.rejects(fetchPath('/missing'), /the response status was 404/)
  await assert.rejects(fetchPath('/slow', { timeoutMs: 200 }), /no response within 200 ms/)
  await assert.rejects(fetchPath('/cut'), { name: 'OutgoingError' })
})

test('the certificate must match the host of the URL', async (t) => {
  const authority = createAuthority('tests')
  const { certificate, key } = authority.issue('site.example')
  const server = createHttps({ cert: certificate, key }, (_, response) => response.end('safe'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const dns = createDns({ 'site.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] })
  const internalHosts = ['site.example', 'other.example']
  const trusting = { ...settings, internalHosts, resolve: dns.resolve, ca: authority.certificate }
  assert.equal(await fetchGuarded(new URL(`https://site.example:${port}/`), trusting), 'safe')
  await assert.rejects(
    fetchGuarded(new URL(`https://other.example:${port}/`), trusting),
    /altnames/,
  )
})
