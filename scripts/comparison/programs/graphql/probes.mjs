import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { whileListening } from '../listen.mjs'
import { noticed } from './probed-schema.mjs'

/** `create` returns a listener for node:http, or starts a server and returns its address. */
async function whileServing(create, use) {
  const created = await create()
  const toEndpoint = (url) => `${url.replace(/\/$/, '')}/graphql`
  if (typeof created === 'string') return use(toEndpoint(created))
  return whileListening(created, (url) => use(toEndpoint(url)))
}

const json = { 'content-type': 'application/json', accept: 'application/json' }

async function post(url, body, headers = json) {
  const text = typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', headers, body: text })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  }
}

const isRefusal = ({ status, text }) =>
  status < 500 && text.includes('"errors"') && !text.includes('world')

/** Whether a small document is executed and a large one refused. */
const refusesLarge = (large) => (create) =>
  whileServing(create, async (url) => {
    const answers = [await post(url, { query: '{ hello }' }), await post(url, { query: large })]
    return answers[0].text.includes('world') && isRefusal(answers[1])
  })

const sha256Hash = createHash('sha256').update('{ hello }').digest('hex')
const extensions = { persistedQuery: { version: 1, sha256Hash } }

export const probes = {
  graphql17: { title: 'Peer range has graphql 17', run: (create) => /17/.test(create()) },
  client: {
    title: 'HTTP client in the package',
    run: (create) =>
      whileServing(create.server, async (url) => (await create.query(url)) === 'world'),
  },
  masked: {
    title: 'Ready-made masking of unexpected errors',
    run: (create) =>
      whileServing(create, async (url) => {
        const { text } = await post(url, { query: '{ broken intended }' })
        return !text.includes('hunter2') && text.includes('There is no such order')
      }),
  },
  bodyLimit: {
    title: 'Refuses a body of 64 MiB by default',
    run: (create) =>
      whileServing(create, async (url) => {
        const query = `{ hello }${' '.repeat(2 ** 26)}`
        // A server may close the connection before it has read the whole body.
        const answer = await post(url, { query }).catch(() => ({ status: 413 }))
        return answer.status === 413
      }),
  },
  maxTokens: {
    title: 'Limit of tokens (1,000)',
    run: refusesLarge(`{ ${'hello '.repeat(1200)} }`),
  },
  maxDepth: {
    title: 'Limit of depth (5)',
    run: refusesLarge(`${'{ nested '.repeat(12)}{ hello }${' }'.repeat(12)}`),
  },
  maxAliases: {
    title: 'Limit of aliases (5)',
    run: refusesLarge(`{ ${Array.from({ length: 12 }, (_, n) => `a${n}: hello`).join(' ')} }`),
  },
  csrf: {
    title: 'Refuses mutations that a form of another site can send',
    run: (create) =>
      whileServing(create, async (url) => {
        const query = 'mutation { change }'
        const form = new FormData()
        form.append('operations', JSON.stringify({ query }))
        form.append('map', '{}')
        const before = noticed.mutations
        await post(url, { query }, { 'content-type': 'text/plain' })
        await post(url, `query=${encodeURIComponent(query)}`, {
          'content-type': 'application/x-www-form-urlencoded',
        })
        await post(url, form, {})
        await fetch(`${url}?query=${encodeURIComponent(query)}`).then((answer) => answer.text())
        const byForms = noticed.mutations
        await post(url, { query })
        return byForms === before && noticed.mutations === before + 1
      }),
  },
  abort: {
    title: 'Resolvers get a signal when the client disconnects (Node 24)',
    run: (create) =>
      whileServing(create, async (url) => {
        const before = noticed.aborts
        const pending = request(url, { method: 'POST', headers: json })
        pending.on('error', () => {})
        pending.end(JSON.stringify({ query: '{ slow }' }))
        await wait(400)
        pending.destroy()
        await wait(800)
        return noticed.aborts === before + 1
      }),
  },
  persisted: {
    title: 'Persisted documents',
    run: (create) =>
      whileServing(
        () => create({ [sha256Hash]: '{ hello }' }),
        async (url) => {
          const answers = [
            await post(url, { documentId: sha256Hash }),
            await post(url, { extensions }),
          ]
          return answers.some(({ text }) => text.includes('world'))
        },
      ),
  },
  automatic: {
    title: 'Automatic persisted queries: clients store documents',
    run: (create) =>
      whileServing(create, async (url) => {
        await post(url, { query: '{ hello }', extensions })
        return (await post(url, { extensions })).text.includes('world')
      }),
  },
  batching: {
    title: 'Batches',
    run: (create) =>
      whileServing(create, async (url) => {
        const { text } = await post(url, [{ query: '{ hello }' }, { query: '{ hello }' }])
        return /^\[.*world.*world.*\]$/s.test(text)
      }),
  },
  defer: {
    title: '`@defer`',
    run: (create) =>
      whileServing(create, async (url) => {
        const query = '{ hello ... @defer { nested { hello } } }'
        const { type } = await post(url, { query }, { ...json, accept: 'multipart/mixed' })
        return type.startsWith('multipart/mixed')
      }),
  },
  subscriptions: {
    title: 'Subscriptions',
    run: (create) =>
      whileServing(create, async (url) => {
        const headers = { ...json, accept: 'text/event-stream' }
        const { type, text } = await post(url, { query: 'subscription { tick }' }, headers)
        return type.startsWith('text/event-stream') && /one.*two/s.test(text)
      }),
  },
  graphiql: {
    title: 'Page to try queries',
    run: (create) =>
      whileServing(create, async (url) => {
        const response = await fetch(url, { headers: { accept: 'text/html' } })
        await response.text()
        return response.ok && /html/.test(response.headers.get('content-type') ?? '')
      }),
  },
  uploads: {
    title: 'File uploads (multipart)',
    run: (create) =>
      whileServing(create, async (url) => {
        const form = new FormData()
        const query = 'mutation ($file: File!) { upload(file: $file) }'
        form.append('operations', JSON.stringify({ query, variables: { file: null } }))
        form.append('map', JSON.stringify({ 0: ['variables.file'] }))
        form.append('0', new Blob(['content of the file']), 'file.txt')
        return (await post(url, form, {})).text.includes('content of the file')
      }),
  },
}
