import assert from 'node:assert/strict'
import type { OpenServer, ServerName, servers } from '../../src/index.ts'
import { queryPostgres } from './postgres-query.ts'
import { exchange } from './sockets.ts'

type Opened<Name extends ServerName> = Awaited<ReturnType<(typeof servers)[Name]>>

const isLine = (answer: string) => answer.endsWith('\r\n')

async function pingRedis(port: number): Promise<void> {
  assert.equal(await exchange(port, 'PING\r\n', isLine), '+PONG\r\n')
}

/** Checks that a server works, over its real protocol. */
const pings: { [Name in ServerName]: (server: Opened<Name>) => Promise<void> } = {
  redis: ({ port }) => pingRedis(port),
  'redis-cluster': async ({ nodes }) => {
    assert.equal(nodes.length, 3)
    // The slot of "a" is 15495, of "b" 3300, of "c" 7365: one key for each of the three masters.
    const answers = await Promise.all(
      ['b', 'c', 'a'].map((key, index) =>
        exchange(nodes[index]?.port ?? 0, `SET ${key} 1\r\n`, isLine),
      ),
    )
    assert.deepEqual(answers, ['+OK\r\n', '+OK\r\n', '+OK\r\n'])
  },
  'redis-sentinel': async ({ sentinels, master, replica }) => {
    for (const { port } of [...sentinels, master, replica]) await pingRedis(port)
  },
  memcached: async ({ port }) => {
    const answer = await exchange(port, 'set key 0 60 5\r\nvalue\r\nget key\r\n', (text) =>
      text.endsWith('END\r\n'),
    )
    assert.equal(answer, 'STORED\r\nVALUE key 0 5\r\nvalue\r\nEND\r\n')
  },
  postgres: async (server) => {
    assert.deepEqual(await queryPostgres(server, 'select 6 * 7'), ['42'])
  },
  'postgres-embedded': async (server) => {
    assert.match((await queryPostgres(server, 'show server_version')).join(), /^18\./)
  },
  pgbouncer: async ({ port }) => {
    // A packet that requests TLS, which the server does not support.
    const packet = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
    const answer = await exchange(port, packet, (text) => text !== '')
    assert.equal(answer, 'N')
  },
  prometheus: async ({ url }) => {
    const response = await fetch(`${url}/api/v1/query?query=6*7`)
    assert.equal((await response.json()).data.result[1], '42')
  },
  chromium: async ({ browser }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.setContent('<title>gate</title>')
    assert.equal(await page.title(), 'gate')
    await context.close()
  },
  envoy: async ({ url }) => {
    assert.equal(await (await fetch(url)).text(), 'gate')
  },
}

/** The server must have this name, which the types cannot express in a loop. */
export async function ping(name: ServerName, server: OpenServer): Promise<void> {
  const check: (server: never) => Promise<void> = pings[name]
  await check(server as never)
}
