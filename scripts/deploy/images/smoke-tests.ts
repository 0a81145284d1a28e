import assert from 'node:assert/strict'
import { findFreePort, openPostgres } from '@portcullis/test-servers'
import type { ImageName } from './images.ts'

/** How to start the image of a server, and requests that check that it works. */
export interface SmokeTest {
  readonly env: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly port: number
  /** The content of files that are copied to /mnt, by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly use: (url: string) => Promise<void>
  /** Whether SIGTERM ends the program, because it has no handler. As process 1 of a container, it needs `--init`. */
  readonly isEndedBySignal?: boolean
  readonly close?: () => Promise<void>
}

const json = { 'content-type': 'application/json' }
const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })

export const smokeTests: Readonly<Record<ImageName, () => Promise<SmokeTest>>> = {
  async auth() {
    const postgres = await openPostgres()
    const port = await findFreePort()
    const secret = 'only-for-the-test-of-the-image-0123456789'
    return {
      port,
      env: {
        AUTH_API_PORT: `${port}`,
        AUTH_API_EXTERNAL_URL: `http://localhost:${port}`,
        AUTH_SITE_URL: 'http://localhost:3000',
        AUTH_DB_DRIVER: 'postgres',
        AUTH_DB_DATABASE_URL: postgres.url,
        AUTH_JWT_SECRET: secret,
        AUTH_SECRETS_KEY: secret,
        AUTH_JWT_AUD: 'authenticated',
        AUTH_MAILER_AUTOCONFIRM: 'true',
      },
      async use(url) {
        // Signing up hashes a password, which needs a native module.
        const person = { email: 'ada@example.com', password: 'correct horse battery' }
        assert.equal((await post(`${url}/signup`, person)).status, 200)
        const signIn = await post(`${url}/token?grant_type=password`, person)
        assert.equal(signIn.status, 200)
        assert.equal((await fetch(`${url}/ready`)).status, 200)
      },
      async close() {
        await postgres[Symbol.asyncDispose]()
      },
    }
  },

  async ratelimit() {
    const [port, grpc, debug] = await Promise.all([findFreePort(), findFreePort(), findFreePort()])
    const rule = 'rate_limit: { unit: year, requests_per_unit: 1 }'
    return {
      port,
      args: ['serve', '--rules', '/mnt'],
      files: { 'api.yaml': `domain: api\ndescriptors:\n  - key: user\n    ${rule}\n` },
      env: {
        PORT: `${port}`,
        GRPC_PORT: `${grpc}`,
        DEBUG_PORT: `${debug}`,
        USE_STATSD: 'false',
        DISABLE_STATS: 'true',
        DRAIN_DELAY: '0s',
      },
      async use(url) {
        const request = {
          domain: 'api',
          descriptors: [{ entries: [{ key: 'user', value: 'ada' }] }],
        }
        assert.equal((await post(`${url}/json`, request)).status, 200)
        assert.equal((await post(`${url}/json`, request)).status, 429)
      },
    }
  },

  async console() {
    const port = await findFreePort()
    return {
      port,
      args: [`--port=${port}`, '--graphql-url=http://127.0.0.1:9/graphql'],
      // The health check of the image reads the port from this variable.
      env: { PORT: `${port}` },
      async use(url) {
        assert.equal((await fetch(url)).status, 401)
      },
    }
  },

  async api() {
    const port = await findFreePort()
    return {
      port,
      isEndedBySignal: true,
      env: { PORT: `${port}`, AUTH_JWT_SECRET: 'only-for-the-test-of-the-image-0123456789' },
      async use(url) {
        const answer = await post(`${url}/graphql`, { query: '{ __typename }' })
        assert.deepEqual(await answer.json(), { data: { __typename: 'Query' } })
      },
    }
  },
}
