import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMailHosts } from '../../src/outgoing/mail-hosts.ts'
import { openDnsServer } from '../support/dns-server.ts'

const full = '20010db8000000000000000000000001'

test('mail servers are those of the MX records, or the domain itself', async (t) => {
  const dns = await openDnsServer(t, {
    'one.site': { mx: ['MX1.one.site', 'mx2.one.site'], a: ['192.0.2.1'] },
    'bare.site': { a: ['192.0.2.2'] },
    'six.site': { aaaa: [full] },
    'null.site': { mx: [''], a: ['192.0.2.3'] },
    'empty.site': {},
  })
  const hosts = createMailHosts({ timeoutMs: 60_000, servers: [dns.address] })
  assert.deepEqual((await hosts.find('one.site'))?.toSorted(), ['mx1.one.site', 'mx2.one.site'])
  assert.deepEqual(await hosts.find('bare.site'), ['192.0.2.2'])
  assert.deepEqual(await hosts.find('six.site'), ['2001:db8::1'])
  assert.deepEqual(await hosts.find('null.site'), [], 'RFC 7505: it receives no email')
  assert.deepEqual(await hosts.find('empty.site'), [])
  assert.deepEqual(await hosts.find('missing.site'), [])
})

test('if the DNS server fails or does not respond, nothing is known about a domain', async (t) => {
  const dns = await openDnsServer(t, {})
  const hosts = createMailHosts({ timeoutMs: 50, servers: [dns.address] })
  for (const failure of ['server failure', 'silence'] as const) {
    dns.failure = failure
    assert.equal(await hosts.find('one.site'), undefined, failure)
  }
  assert.ok(dns.questions.includes('one.site MX'))
})
