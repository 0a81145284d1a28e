// Every limiter here allows three requests per minute, unless the probe says otherwise.

import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { whileListening } from '../listen.mjs'

const get = async (url, headers = {}) => {
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The responses to this many requests. `create` returns a listener for node:http. */
const sendRequests = async (create, count, path = '/', headers = []) =>
  whileListening(await create(), async (url) => {
    const answers = []
    for (let n = 0; n < count; n++) answers.push(await get(url + path, headers[n]))
    return answers
  })

const statuses = (answers) => answers.map(({ status }) => status).join()
const isLimited = async (create) => statuses(await sendRequests(create, 4)) === '200,200,200,429'

/** Whether the first response has these fields. */
const hasFields = (fields) => async (create) => {
  const [{ headers }] = await sendRequests(create, 1)
  return Object.entries(fields).every(([name, value]) => value.test(headers.get(name) ?? ''))
}

const number = /^\d+$/

/** `take` counts a request and resolves to whether it is allowed. */
const takeAll = async (take, key, count) => {
  const taken = []
  for (let n = 0; n < count; n++) taken.push(await take(key))
  return taken.map(Number).join('')
}

export const probes = {
  express: { title: 'Middleware for Express', run: isLimited },
  fastify: { title: 'Plug-in or hook for Fastify', run: isLimited },
  node: { title: 'Function for `node:http`', run: isLimited },
  fetch: {
    title: 'Wrapper of fetch handlers (Next.js, Bun, Deno)',
    async run(create) {
      const handle = await create()
      const answers = []
      for (let n = 0; n < 4; n++) answers.push(await handle(new Request('http://localhost/')))
      return statuses(answers) === '200,200,200,429'
    },
  },
  retryAfter: {
    title: '`Retry-After` with a refusal',
    async run(create) {
      const answers = await sendRequests(create, 4)
      return answers[3].status === 429 && number.test(answers[3].headers.get('retry-after') ?? '')
    },
  },
  draft6: {
    title: 'Fields `RateLimit-Limit`, … and `RateLimit-Policy` (draft 6)',
    run: hasFields({
      'ratelimit-limit': /^3\b/,
      'ratelimit-remaining': /^2$/,
      'ratelimit-reset': number,
      'ratelimit-policy': /^3;\s*w=60/,
    }),
  },
  draft7: {
    title: 'Fields of draft 7',
    run: hasFields({
      ratelimit: /^limit=3, remaining=2, reset=\d+$/,
      'ratelimit-policy': /^3;w=60/,
    }),
  },
  draft8: {
    title: 'Fields of draft 8',
    run: hasFields({
      ratelimit: /^"[^"]+";\s*r=2;\s*t=\d+/,
      'ratelimit-policy': /^"[^"]+";\s*q=3;\s*w=60/,
    }),
  },
  legacy: {
    title: 'Fields `X-RateLimit-…`',
    run: hasFields({
      'x-ratelimit-limit': /^3$/,
      'x-ratelimit-remaining': /^2$/,
      'x-ratelimit-reset': number,
    }),
  },
  answer: {
    title: 'Custom status and body of a refusal',
    async run(create) {
      const answer = (await sendRequests(create, 4))[3]
      return answer.status === 420 && answer.text.includes('calm down')
    },
  },
  skip: {
    title: 'Serve some requests without counting (`skip`)',
    run: async (create) =>
      statuses(await sendRequests(create, 5, '/healthz')) === '200,200,200,200,200',
  },
  failedOnly: {
    title: 'Option to count only failed requests',
    run: async (create) =>
      whileListening(await create(), async (url) => {
        const answers = []
        for (let n = 0; n < 5; n++) answers.push(await get(url))
        for (let n = 0; n < 4; n++) answers.push(await get(`${url}/bad`))
        return statuses(answers) === '200,200,200,200,200,400,400,400,429'
      }),
  },
  ipv6: {
    title: 'IPv6 clients are counted by network',
    async run(create) {
      const from = (address) => ({ 'x-forwarded-for': address })
      const network = [1, 2, 3, 4].map((host) => from(`2001:db8:0:1::${host}`))
      const answers = await sendRequests(create, 5, '/', [...network, from('2001:db8:9:1::1')])
      return statuses(answers) === '200,200,200,429,200'
    },
  },
  several: {
    title: 'Several limits in one decision (3 per address, 2 per user)',
    async run(create) {
      const take = await create()
      let byUser = ''
      let byAddress = ''
      for (const ip of ['a', 'b', 'c']) byUser += Number(await take(ip, 'ada'))
      for (const user of ['d', 'e', 'f', 'g']) byAddress += Number(await take('10.0.0.1', user))
      return byUser === '110' && byAddress === '1110'
    },
  },
  weight: {
    title: 'A request that counts as several',
    async run(create) {
      const take = await create()
      return `${Number(await take('a', 2))}${Number(await take('a', 2))}` === '10'
    },
  },
  peek: {
    title: 'Read a limit without counting (`peek`)',
    async run(create) {
      const { take, peek } = await create()
      await take('a')
      return (await peek('a')) === 2 && (await peek('a')) === 2
    },
  },
  refund: {
    title: 'Give a hit back (`refund`)',
    async run(create) {
      const { take, refund } = await create()
      await takeAll(take, 'a', 3)
      await refund('a')
      return (await takeAll(take, 'a', 2)) === '10'
    },
  },
  reset: {
    title: 'Set a counter to 0 (`reset`)',
    async run(create) {
      const { take, reset } = await create()
      await takeAll(take, 'a', 4)
      await reset('a')
      return (await takeAll(take, 'a', 4)) === '1110'
    },
  },
  block: {
    title: 'Refuse a key for some time (`block`)',
    async run(create) {
      const { take, block } = await create()
      await block('a', 60)
      return (await takeAll(take, 'a', 1)) === '0' && (await takeAll(take, 'b', 1)) === '1'
    },
  },
  sync: {
    title: 'Decision without a promise',
    async run(create) {
      const take = await create()
      return [take('a'), take('a'), take('a'), take('a')].map(Number).join('') === '1110'
    },
  },
  sliding: {
    title: 'Sliding window (3 per second)',
    async run(create) {
      const take = await create()
      await wait(1000 - (Date.now() % 1000))
      await take('a')
      await wait(900 - (Date.now() % 1000))
      await takeAll(take, 'a', 2)
      // A fixed window is over now, wherever it started, and would allow three requests again.
      await wait(1150 - (Date.now() % 1000))
      return (await takeAll(take, 'a', 3)) !== '111'
    },
  },
  queue: {
    title: 'Wait until a request is allowed (1 per second)',
    async run(create) {
      const waitForTurn = await create()
      await waitForTurn('a')
      const start = performance.now()
      await waitForTurn('a')
      const ms = performance.now() - start
      return ms > 50 && ms < 3000
    },
  },
  redis: {
    title: 'Counters in Redis, shared by processes',
    async run(create) {
      const [first, second] = await Promise.all([
        create(process.env.REDIS_URL),
        create(process.env.REDIS_URL),
      ])
      const key = randomUUID()
      return (await takeAll(first, key, 2)) + (await takeAll(second, key, 2)) === '1110'
    },
  },
  fallback: {
    title: 'Counts in memory while Redis is down',
    async run(create) {
      const take = await create(process.env.DEAD_REDIS_URL)
      return (await takeAll(take, 'a', 4).catch(() => '')) === '1110'
    },
  },
  sql: { title: 'Counters in SQL databases', run: () => false },
  files: {
    title: 'Limits in files, read again when they change',
    async run(create) {
      const { take, change } = await create()
      const before = await takeAll(take, 'a', 4)
      change()
      await wait(1500)
      return before === '1110' && (await takeAll(take, 'b', 4)) === '1111'
    },
  },
}
