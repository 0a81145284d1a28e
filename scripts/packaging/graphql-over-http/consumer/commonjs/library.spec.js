// Uses the installed package in the CommonJS mode of Jest, which cannot require ES modules.
// Globals: graphqlMajor, and specifiers with everything that can be imported.

const { version } = require('graphql')

test('each entry can be required', () => {
  expect(specifiers.length).toBeGreaterThan(20)
  for (const specifier of specifiers) {
    const module = require(specifier)
    if (specifier.includes('/use/')) expect(typeof module.createHandler).toBe('function')
  }
})

test('a handler executes with the graphql of the project', async () => {
  const { createHandler } = require('@portcullis/graphql-over-http/use/fetch')
  const { buildSchema } = require('graphql')
  expect(version.split('.')[0]).toBe(graphqlMajor)
  const schema = buildSchema('type Query { hello: String }')
  const handler = createHandler({ schema, rootValue: { hello: 'world' } })
  const response = await handler(new Request('http://localhost/graphql?query={hello}'))
  expect(await response.json()).toEqual({ data: { hello: 'world' } })
})
