/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { execute, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createHandler } from '../src/handler.ts'
import { accepting, GR, get, J, post, toAnswer } from './support/request.ts'

/** Yields a few times, so that requests overtake each other. */
async function yieldTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate()
}

interface Caller {
  readonly user: string
  readonly turns: number
}

const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, Caller>({
    name: 'Query',
    fields: {
      whoAmI: {
        type: GraphQLString,
        async resolve(_root, _args, { user, turns }) {
          await yieldTurns(turns)
          return user
        },
      },
      echo: {
        type: GraphQLString,
        args: { text: { type: GraphQLString } },
        async resolve(_root, { text }, { turns }) {
          await yieldTurns(turns % 2)
          return text
        },
      },
    },
  }),
})

test('a thousand interleaved requests keep their contexts and results apart', async () => {
  const handler = createHandler<unknown, undefined, Caller>({
    schema,
    async context(_req, { extensions }) {
      const turns = Number(extensions?.['number']) % 5
      await yieldTurns(turns)
      return { user: `user ${extensions?.['number']}`, turns }
    },
    async execute(args) {
      const result = await execute(args)
      await yieldTurns(1)
      return result
    },
    onOperation: (_req, args, result) => ({
      ...result,
      extensions: { seen: args.contextValue?.user },
    }),
  })

  const requests = Array.from({ length: 1000 }, async (_, number) => {
    const params = {
      query: 'query ($text: String) { whoAmI echo(text: $text) }',
      variables: { text: `text ${number}` },
      extensions: { number },
    }
    const req = number % 2 === 0 ? post(params) : get(params)
    const accept = number % 3 === 0 ? GR : J
    const { status, type, json } = toAnswer(await handler(accepting(req, accept)))
    assert.deepEqual([status, type], [200, accept])
    assert.deepEqual(json, {
      data: { whoAmI: `user ${number}`, echo: `text ${number}` },
      extensions: { seen: `user ${number}` },
    })
  })
  assert.equal((await Promise.all(requests)).length, 1000)
})

test('a failing request does not affect concurrent requests', async () => {
  const handler = createHandler<unknown, unknown, Caller>({
    schema,
    context: async (_req, { variables }) => {
      await yieldTurns(1)
      if (variables?.['isBad']) throw new Error('of this request alone')
      return { user: 'someone', turns: 2 }
    },
  })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, number) =>
      handler(post({ query: '{ whoAmI }', variables: { isBad: number % 4 === 0 } })),
    ),
  )
  for (const [number, outcome] of outcomes.entries()) {
    if (number % 4 === 0) assert.equal(outcome.status, 'rejected')
    else {
      assert.equal(outcome.status, 'fulfilled')
      assert.deepEqual(toAnswer(outcome.value).json, { data: { whoAmI: 'someone' } })
    }
  }
})
