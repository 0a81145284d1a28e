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

test('the published manifest refers to compiled files, types first', () => {
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

test('a package with a CommonJS variant offers it to tools that cannot require modules', () => {
  const { exports, main, types, typesVersions, files } = toPublishedManifest(
    development,
    {},
    'modules',
  )
  const module = { types: './lib/index.d.ts', default: './lib/index.js' }
  assert.deepEqual(exports['.'], {
    'module-sync': module,
    require: { types: './cjs/index.d.ts', default: './cjs/index.js' },
    default: module,
  })
  // Node uses the first condition that it supports, and must not load both variants.
  assert.equal(Object.keys(exports['.'] ?? {})[0], 'module-sync')
  assert.deepEqual([main, types], ['./cjs/index.js', './cjs/index.d.ts'])
  assert.deepEqual(typesVersions, { '*': { 'use/*': ['./cjs/adapters/*.d.ts'] } })
  assert.deepEqual(files, ['lib', 'cjs', 'CHANGELOG.md'])
})

test('declarations for CommonJS keep the paths of the modules below cjs/', () => {
  const published = toPublishedManifest(development, {}, 'types')
  const { exports, main, types, typesVersions, files } = published
  const module = { types: './lib/index.d.ts', default: './lib/index.js' }
  assert.deepEqual(exports['.'], {
    'module-sync': module,
    require: { types: './cjs/lib/index.d.ts', default: './cjs/lib/index.js' },
    default: module,
  })
  assert.deepEqual([main, types], ['./cjs/lib/index.js', './cjs/lib/index.d.ts'])
  assert.deepEqual(typesVersions, { '*': { 'use/*': ['./cjs/lib/adapters/*.d.ts'] } })
  assert.deepEqual(files, ['lib', 'cjs', 'CHANGELOG.md'])
})

test('the published manifest keeps the fields for consumers and nothing about the repository', () => {
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

test('a bundled package is not a dependency, and its files are published', () => {
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

test('a JSON file is exported unchanged', () => {
  const exports = { './schema.json': './schema/schema.json' }
  assert.deepEqual(toPublishedManifest({ ...development, exports }).exports, exports)
})

test('a target that is not a source is refused by name', () => {
  const exports = { '.': './dist/index.js' }
  assert.throws(() => toPublishedManifest({ ...development, exports }), {
    name: 'BuildError',
    message: /"\.\/dist\/index\.js"/,
  })
})
