/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { versionInfo } from 'graphql'

// `npm test` runs the library's tests several times and sets the expected versions of each run
// here.
const { EXPECTED_NODE = '24', EXPECTED_GRAPHQL = '17' } = process.env

test('the tests run on the expected Node version', () => {
  assert.equal(process.versions.node.split('.')[0], EXPECTED_NODE)
})

test('the tests use the expected graphql version, however they load it', async () => {
  assert.equal(`${versionInfo.major}`, EXPECTED_GRAPHQL)
  const { version } = await import('graphql')
  assert.equal(version.split('.')[0], EXPECTED_GRAPHQL)
  const require = createRequire(import.meta.url)
  assert.equal(`${require('graphql').versionInfo.major}`, EXPECTED_GRAPHQL)
  assert.equal(`${require('graphql/version').versionInfo.major}`, EXPECTED_GRAPHQL)
  // The graphql that a package in node_modules gets.
  const packageRequire = createRequire(import.meta.resolve('fastify'))
  assert.equal(`${packageRequire('graphql').versionInfo.major}`, EXPECTED_GRAPHQL)
})
