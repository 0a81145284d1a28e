import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listSubpaths } from '../subpaths.ts'

const files = ['index', 'adapters/http', 'adapters/koa', 'adapters/shared/vary'].flatMap((path) => [
  `${path}.js`,
  `${path}.d.ts`,
])
const manifest = {
  name: 'example',
  version: '1.0.0',
  files: ['lib'],
  exports: {
    '.': { types: './index.d.ts', default: './index.js' },
    './use/shared/*': null,
    './use/*': { types: './adapters/*.d.ts', default: './adapters/*.js' },
    './use/node': { types: './adapters/http.d.ts', default: './adapters/http.js' },
    './package.json': './package.json',
  },
}

test('wildcards are expanded with the files, except hidden ones', () => {
  const specifiers = listSubpaths(manifest, files).map(({ specifier }) => specifier)
  assert.deepEqual(specifiers, [
    'example',
    'example/use/http',
    'example/use/koa',
    'example/use/node',
  ])
})

test('a subpath without its module or its declarations is an error', () => {
  for (const missing of ['index.js', 'index.d.ts', 'adapters/koa.d.ts']) {
    const rest = files.filter((file) => file !== missing)
    assert.throws(() => listSubpaths(manifest, rest), { message: new RegExp(`/${missing}$`) })
  }
})

test('a wildcard that matches no file is an error', () => {
  assert.throws(() => listSubpaths(manifest, ['index.js', 'index.d.ts']), {
    message: 'exports["./use/*"] matches no file: ./adapters/*.js',
  })
})

test('a CommonJS variant that is missing is an error', () => {
  const module = { types: './index.d.ts', default: './index.js' }
  const variant = { types: './cjs/index.d.ts', default: './cjs/index.js' }
  const exports = { '.': { 'module-sync': module, require: variant, default: module } }
  const all = [...files, 'cjs/index.js', 'cjs/index.d.ts']
  assert.deepEqual(listSubpaths({ ...manifest, exports }, all), [
    {
      specifier: 'example',
      file: './index.js',
      types: './index.d.ts',
      commonJs: { file: './cjs/index.js', types: './cjs/index.d.ts' },
    },
  ])
  for (const missing of ['cjs/index.js', 'cjs/index.d.ts']) {
    const rest = all.filter((file) => file !== missing)
    assert.throws(() => listSubpaths({ ...manifest, exports }, rest), {
      message: `example refers to a missing file: ./${missing}`,
    })
  }
})

test('an exported JSON file that is missing is an error', () => {
  const exports = { ...manifest.exports, './schema.json': './schema.json' }
  assert.throws(() => listSubpaths({ ...manifest, exports }, files), {
    message: 'exports["./schema.json"] refers to a missing file: ./schema.json',
  })
})
