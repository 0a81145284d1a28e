import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRateLimiter, ipKey } from '@portcullis/limiter'
import { limitRequests as limitExpress } from '@portcullis/limiter/use/express'
import { limitRequests as limitFastify } from '@portcullis/limiter/use/fastify'
import { limitRequests as limitFetch } from '@portcullis/limiter/use/fetch'
import { limitRequests as limitNode } from '@portcullis/limiter/use/node'
import express from 'express'
import Fastify from 'fastify'
import { missing } from '../../feature-values.mjs'

const create = (options) =>
  createRateLimiter({ limits: { ip: '3/minute' }, logger: false, ...options })

function createApp(options) {
  const app = express().set('trust proxy', true)
  const keys = ({ ip }) => ({ ip: ipKey(ip) })
  app.use(limitExpress({ limiter: create(), keys, ...options }))
  return app.use((_request, response) => response.end('welcome'))
}

async function createFastify() {
  const app = Fastify()
  app.addHook(
    'onRequest',
    limitFastify({ limiter: create(), keys: ({ ip }) => ({ ip: ipKey(ip) }) }),
  )
  app.get('/', () => 'welcome')
  await app.ready()
  return app.routing
}

function createVerbs() {
  const limiter = create()
  return {
    take: async (ip) => (await limiter.limit({ ip })).isAllowed,
    peek: async (ip) => (await limiter.peek({ ip })).statuses[0].remaining,
    refund: (ip) => limiter.refund({ ip }),
    reset: (ip) => limiter.reset({ ip }),
    block: (ip, seconds) => limiter.block({ ip }, seconds),
  }
}

function createTake(options) {
  const limiter = create(options)
  return async (ip, hits = 1) => (await limiter.limit({ ip }, { hits })).isAllowed
}

function createFiles() {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-rules-'))
  const write = (count) => {
    const text = `domain: api\ndescriptors:\n  - key: ip\n    rate_limit: { unit: minute, requests_per_unit: ${count} }\n`
    mkdirSync(join(directory, 'new'), { recursive: true })
    writeFileSync(join(directory, 'new', 'api'), text)
    renameSync(join(directory, 'new', 'api'), join(directory, 'api.yaml'))
  }
  write(3)
  const limiter = createRateLimiter({ rules: { directory }, logger: false })
  const take = async (ip) => (await limiter.limit({ descriptors: [{ ip }] })).isAllowed
  return { take, change: () => write(9) }
}

export const features = {
  express: () => createApp(),
  fastify: createFastify,
  node: () => {
    const limit = limitNode({ limiter: create(), keys: () => ({ ip: 'a' }) })
    return async (request, response) => {
      if (await limit(request, response)) response.end('welcome')
    }
  },
  fetch: () =>
    limitFetch({ limiter: create(), keys: () => ({ ip: 'a' }) }, () => new Response('welcome')),
  retryAfter: () => createApp(),
  draft6: () => createApp({ headers: 'draft-6' }),
  draft7: () => createApp({ headers: 'draft-7' }),
  draft8: () => createApp({ headers: 'draft-8' }),
  legacy: () => createApp({ headers: 'legacy' }),
  answer: () => createApp({ onLimited: () => ({ status: 420, body: 'calm down' }) }),
  skip: () => createApp({ skip: ({ path }) => path === '/healthz' }),
  failedOnly: missing(/\bskip(Successful|Failed)/),
  ipv6: () => createApp(),
  several: () => {
    const limiter = createRateLimiter({ limits: { ip: '3/minute', user: '2/minute' } })
    return async (ip, user) => (await limiter.limit({ ip, user })).isAllowed
  },
  weight: () => createTake(),
  peek: createVerbs,
  refund: createVerbs,
  reset: createVerbs,
  block: createVerbs,
  sync: () => {
    const limiter = create()
    return (ip) => limiter.limitSync({ ip }).isAllowed
  },
  sliding: () => createTake({ limits: { ip: { limit: '3/second', algorithm: 'sliding_window' } } }),
  queue: missing(/\b(queue|until)/i),
  redis: (store) => createTake({ store, keyPrefix: 'portcullis:' }),
  fallback: (store) => createTake({ store, fallback: 'memory' }),
  sql: missing(/postgres|mysql|sqlite/i),
  files: createFiles,
}
