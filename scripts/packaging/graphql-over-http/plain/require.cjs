// Uses the installed package from CommonJS. Arguments: everything that can be imported.

const assert = require('node:assert/strict')
const { createHandler } = require('@portcullis/graphql-over-http')
const { buildSchema } = require('graphql')

// A warning about require() of ES modules would appear in every user's log.
process.on('warning', (warning) => {
  throw warning
})

const specifiers = process.argv.slice(2)
for (const specifier of specifiers) {
  const module = require(specifier)
  if (specifier.includes('/use/')) assert.equal(typeof module.createHandler, 'function', specifier)
}
assert.equal(
  require('@portcullis/graphql-over-http/package.json').name,
  '@portcullis/graphql-over-http',
)

// The schema was created by the copy of graphql that `require` finds, and the handler must use the
// same copy.
const schema = buildSchema('type Query { hello: String }')
const handle = createHandler({ schema, rootValue: { hello: 'world' } })
const query = encodeURIComponent('{ hello }')
handle({
  method: 'GET',
  url: `/graphql?query=${query}`,
  headers: {},
  body: null,
  raw: null,
  context: null,
}).then(([body]) => {
  assert.deepEqual(JSON.parse(body ?? ''), { data: { hello: 'world' } })
  console.log(`${specifiers.length} modules`)
})
