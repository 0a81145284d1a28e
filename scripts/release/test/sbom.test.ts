import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findPublishedPackages, root } from '../../packaging/published-packages.ts'
import { toImageBom } from '../image-sbom.ts'
import { findDependencies, type LockFile, readLockFile } from '../lock-file.ts'
import { toPackageBom } from '../sbom.ts'

/** Two versions of one package, a development dependency, and one that only some systems need. */
const lockFile: LockFile = {
  packages: {
    'packages/app': {
      version: '1.0.0',
      dependencies: { '@portcullis/kit': '1.0.0', shared: '^2.0.0' },
      optionalDependencies: { native: '^1.0.0', gone: '^1.0.0' },
    },
    'node_modules/@portcullis/kit': { resolved: 'packages/kit', link: true },
    'packages/kit': { version: '1.0.0', license: 'MIT', dependencies: { shared: '^1.0.0' } },
    'packages/kit/node_modules/shared': { version: '1.5.0', license: 'ISC' },
    'node_modules/shared': { version: '2.0.0', license: 'MIT', integrity: 'sha512-AAEC' },
    'node_modules/native': { version: '1.0.0', license: 'MIT', dependencies: { shared: '*' } },
    'node_modules/tool': { version: '9.0.0', license: 'MIT' },
  },
}
const subject = { name: '@portcullis/app', version: '1.0.0', license: 'MIT' }

test('the dependencies are found as Node would find them', () => {
  const { direct, all } = findDependencies(lockFile, 'app')
  assert.deepEqual(direct, ['@portcullis/kit@1.0.0', 'shared@2.0.0', 'native@1.0.0'])
  const optional = [...all].map(([id, { isOptional }]) => [id, isOptional])
  assert.deepEqual(Object.fromEntries(optional), {
    'shared@1.5.0': false,
    '@portcullis/kit@1.0.0': false,
    'shared@2.0.0': false,
    'native@1.0.0': true,
  })
})

test('the dependencies of a bundled package are not included', () => {
  const { all } = findDependencies(lockFile, 'app', ['@portcullis/kit'])
  assert.deepEqual([...all.keys()], ['@portcullis/kit@1.0.0', 'shared@2.0.0', 'native@1.0.0'])
})

test('a document names each component, its licence, its hash and what it needs', () => {
  const bom = toPackageBom(subject, findDependencies(lockFile, 'app'))
  assert.equal(bom.metadata.component.purl, 'pkg:npm/%40portcullis/app@1.0.0')
  assert.deepEqual(
    bom.components.find(({ version }) => version === '2.0.0'),
    {
      type: 'library',
      'bom-ref': 'pkg:npm/shared@2.0.0',
      name: 'shared',
      version: '2.0.0',
      purl: 'pkg:npm/shared@2.0.0',
      scope: 'required',
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: '000102' }],
    },
  )
  const [first, kit] = bom.dependencies
  assert.deepEqual(first?.dependsOn, [
    'pkg:npm/%40portcullis/kit@1.0.0',
    'pkg:npm/native@1.0.0',
    'pkg:npm/shared@2.0.0',
  ])
  assert.deepEqual(kit?.dependsOn, ['pkg:npm/shared@1.5.0'])
})

test('the same dependencies give the same document', () => {
  const make = () => JSON.stringify(toPackageBom(subject, findDependencies(lockFile, 'app')))
  assert.equal(make(), make())
  const changed = { ...subject, version: '1.0.1' }
  const { serialNumber } = toPackageBom(changed, findDependencies(lockFile, 'app'))
  assert.match(serialNumber, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
  assert.ok(!make().includes(serialNumber))
})

test('every published package has a document whose references all exist', () => {
  const real = readLockFile()
  for (const { name, manifest } of findPublishedPackages()) {
    const dependencies = findDependencies(real, name)
    const bom = toPackageBom({ ...subject, name: manifest.name }, dependencies)
    const refs = new Set(bom.dependencies.map(({ ref }) => ref))
    assert.equal(refs.size, bom.components.length + 1, name)
    for (const { dependsOn } of bom.dependencies) {
      for (const ref of dependsOn) assert.ok(refs.has(ref), ref)
    }
    // The document must list the versions that npm has installed.
    for (const { name: own, version, isOptional } of dependencies.all.values()) {
      if (isOptional) continue
      const places = [`node_modules/${own}`, ...Object.keys(real.packages)].filter(
        (place) => place.endsWith(`node_modules/${own}`) && hasVersion(place, version),
      )
      assert.ok(places.length > 0, `${own}@${version}`)
    }
  }
})

function hasVersion(place: string, version: string): boolean {
  const file = readFileSync(join(root, place, 'package.json'), 'utf8')
  return JSON.parse(file).version === version
}

test('the document of an image has what is installed in it: npm packages, Node, Debian', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-sbom-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['shared', '@portcullis/kit']) {
    mkdirSync(join(folder, 'app/node_modules', name), { recursive: true })
    writeFileSync(join(folder, 'app/node_modules', name, 'package.json'), '{}')
  }
  mkdirSync(join(folder, 'var/lib/dpkg'), { recursive: true })
  const fields = (name: string, state: string) =>
    `Package: ${name}\nStatus: ${state}\nArchitecture: amd64\nVersion: 1:2.0+deb12u1\n`
  const blocks = [
    fields('libc6', 'install ok installed'),
    fields('old', 'deinstall ok config-files'),
  ]
  writeFileSync(join(folder, 'var/lib/dpkg/status'), blocks.join('\n'))
  const bom = toImageBom({
    name: 'portcullis-app',
    version: '1.0.0',
    folder,
    nodeVersion: '24.0.0',
    dependencies: findDependencies(lockFile, 'app'),
  })
  assert.deepEqual(
    bom.components.map(({ purl }) => purl),
    [
      'pkg:deb/debian/libc6@1%3A2.0%2Bdeb12u1?arch=amd64',
      'pkg:generic/node@24.0.0',
      'pkg:npm/%40portcullis/kit@1.0.0',
      'pkg:npm/shared@1.5.0',
      'pkg:npm/shared@2.0.0',
    ],
  )
  assert.equal(bom.dependencies[0]?.dependsOn.includes('pkg:npm/native@1.0.0'), false)
})
