import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublishedManifest } from '../published-manifest.ts'

const development = {
  name: '@portcullis/example',
  version: '1.2.3',
  private: true,
  scripts: { prepack: 'exit 1' },
  homepage: 'https://example.com',
  bugs: { url: 'https://example.com/issues' },
  repository: { type: 'git', url: 'git+https://example.com/it.git' },
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
    '.': { types: './lib/index.d.ts', default: './lib/index.js' },
    './use/shared/*': null,
    './use/*': { types: './lib/adapters/*.d.ts', default: './lib/adapters/*.js' },
    './package.json': './package.json',
  })
  assert.deepEqual(Object.keys(exports['.'] ?? {}), ['types', 'default'])
  assert.deepEqual(bin, { example: 'lib/cli/main.js' })
})

test('the published manifest keeps what consumers read and nothing about the repository', () => {
  const published = toPublishedManifest(development)
  assert.deepEqual(Object.keys(published), [
    'name',
    'version',
    'homepage',
    'bugs',
    'repository',
    'engines',
    'bin',
    'exports',
    'peerDependencies',
    'files',
  ])
})

test('what travels inside is no dependency, and is published with the files named', () => {
  const { dependencies, files } = toPublishedManifest(
    {
      ...development,
      dependencies: { '@portcullis/kit': '1.2.3', yaml: '^2.0.0' },
      files: ['src/db/migrations/*.sql', 'rules/*.yaml'],
    },
    { kit: '@portcullis/kit' },
  )
  assert.deepEqual(dependencies, { yaml: '^2.0.0' })
  assert.deepEqual(files, ['lib', 'kit', 'rules', 'CHANGELOG.md'])
})

test('a JSON file is exported as it is', () => {
  const exports = { './schema.json': './schema/schema.json' }
  assert.deepEqual(toPublishedManifest({ ...development, exports }).exports, exports)
})

test('a target that is no source is refused by name', () => {
  const exports = { '.': './dist/index.js' }
  assert.throws(() => toPublishedManifest({ ...development, exports }), {
    name: 'BuildError',
    message: /"\.\/dist\/index\.js"/,
  })
})
