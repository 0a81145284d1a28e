import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublishedManifest } from '../published-manifest.ts'

const development = {
  name: '@portcullis/example',
  version: '1.2.3',
  private: true,
  scripts: { prepack: 'exit 1' },
  engines: { node: '>=22.18' },
  bin: { example: './src/cli/main.ts' },
  exports: {
    '.': './src/index.ts',
    './use/shared/*': null,
    './use/*': './src/adapters/*.ts',
    './package.json': './package.json',
  },
  peerDependencies: { graphql: '^17.0.0' },
  devDependencies: { graphql: '^17.1.0' },
}

test('the published manifest leads to compiled files, types first', () => {
  const { exports, bin } = toPublishedManifest(development)
  assert.deepEqual(exports, {
    '.': { types: './index.d.ts', default: './index.js' },
    './use/shared/*': null,
    './use/*': { types: './adapters/*.d.ts', default: './adapters/*.js' },
    './package.json': './package.json',
  })
  assert.deepEqual(Object.keys(exports['.'] ?? {}), ['types', 'default'])
  assert.deepEqual(bin, { example: 'cli/main.js' })
})

test('the published manifest keeps what consumers read and nothing about the repository', () => {
  const published = toPublishedManifest(development)
  assert.deepEqual(Object.keys(published), [
    'name',
    'version',
    'engines',
    'bin',
    'exports',
    'peerDependencies',
    'files',
  ])
})

test('a target that is no source is refused by name', () => {
  const exports = { '.': './dist/index.js' }
  assert.throws(() => toPublishedManifest({ ...development, exports }), {
    name: 'BuildError',
    message: /"\.\/dist\/index\.js"/,
  })
})
