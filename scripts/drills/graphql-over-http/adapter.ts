import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'

/** The adapter that only the copy has. */
interface PigeonAdapter {
  createHandler(
    options: object,
  ): (pigeon: object, loft: object) => Promise<{ readonly letter: string }>
  readonly schema: object
}

export const adapter: Drill = {
  kind: 'GraphQL adapter',
  package: 'graphql-over-http',
  file: 'src/adapters/pigeon.ts',
  source: `
import { buildSchema } from 'graphql'
import type { HandlerOptions } from '../options.ts'
import { adapt } from './shared/adapt.ts'
import type { AdapterOptions } from './shared/adapter-options.ts'

interface Pigeon {
  readonly wings: number
  readonly letter: string
}

export const schema = buildSchema('type Query { hello: String }')

export function createHandler(
  options: HandlerOptions<Pigeon, undefined, undefined> & AdapterOptions,
): (pigeon: Pigeon, loft: object) => Promise<{ readonly letter: string }> {
  return adapt(options, {
    host: 'pigeon',
    isHost: (pigeon) => pigeon.wings === 2,
    toRequest: (pigeon) => ({
      url: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: pigeon.letter,
      raw: pigeon,
      context: undefined,
    }),
    answer: ([body]) => ({ letter: body ?? '' }),
  })
}
`,
  index: {
    file: 'src/adapters/shared/wrong-host.ts',
    list: 'HOSTS',
    entry: "['pigeon', (first) => has(first, 'wings')]",
  },
  help: [],
  async prove(copy) {
    const pigeon = await copy.load<PigeonAdapter>('src/adapters/pigeon.ts')
    const rootValue = { hello: 'coo' }
    const handler = pigeon.createHandler({ schema: pigeon.schema, rootValue })
    const { letter } = await handler({ wings: 2, letter: '{"query":"{ hello }"}' }, {})
    assert.deepEqual(JSON.parse(letter), { data: { hello: 'coo' } })
    // Every other adapter names it when called with a pigeon.
    const other = await copy.load<PigeonAdapter>('src/adapters/netlify.ts')
    const wrong = other.createHandler({ schema: pigeon.schema })
    await assert.rejects(wrong({ wings: 2 }, {}), /use\/pigeon" instead/)
  },
}
