import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { images } from '../../deploy/images/images.ts'
import { findPublishedPackages, root } from '../../packaging/published-packages.ts'
import { readRunEnvironment, toProvenance } from '../provenance.ts'
import { findOtherVersions } from '../versions.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const files = globSync('.github/workflows/*.yml', { cwd: root }).sort()
const release = read('.github/workflows/release.yml')

test('every action is pinned to a commit, with its version', () => {
  const names = ['deploy', 'docs', 'release']
  assert.deepEqual(
    files,
    names.map((name) => `.github/workflows/${name}.yml`),
  )
  for (const file of files) {
    const uses = [...read(file).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action)
    assert.ok(uses.length > 1)
    for (const action of uses) assert.match(action, /^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
  }
})

test('a job has only the permissions that it declares, and a checkout keeps no credentials', () => {
  const { permissions, jobs } = parse(release)
  assert.deepEqual(permissions, {})
  for (const [name, job] of Object.entries<{ permissions?: object; steps: Step[] }>(jobs)) {
    assert.ok(job.permissions, name)
    for (const { uses, with: options } of job.steps) {
      if (!uses?.startsWith('actions/checkout@')) continue
      assert.equal(options?.['persist-credentials'], false, name)
    }
  }
})

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

test('every script that a workflow runs exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  for (const file of files) {
    const names = [...read(file).matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name)
    assert.deepEqual(
      names.filter((name) => !Object.hasOwn(scripts, name)),
      [],
    )
  }
  for (const path of ['.ci/run', 'deploy/helm/portcullis']) {
    assert.ok(release.includes(path) && existsSync(join(root, path)), path)
  }
})

test('every package is published after those that it needs, and every server has an image', () => {
  const [, names = ''] = /for name in (.+); do/.exec(release) ?? []
  const order = names.split(' ')
  const packages = findPublishedPackages()
  assert.deepEqual(order.toSorted(), packages.map(({ name }) => name).toSorted())
  for (const { name, manifest } of packages) {
    for (const other of packages) {
      if (!Object.hasOwn(manifest.dependencies ?? {}, other.manifest.name)) continue
      assert.ok(order.indexOf(other.name) < order.indexOf(name), `${name} needs ${other.name}`)
    }
  }
  const { image } = parse(release).jobs.images.strategy.matrix
  assert.deepEqual(
    image,
    Object.entries(images).flatMap(([name, { containerfile }]) =>
      containerfile.startsWith('deploy/') ? [name] : [],
    ),
  )
})

test('every job that uploads bills of materials has signed them', () => {
  const jobs = Object.entries<{ steps: Step[] }>(parse(release).jobs)
  const uploading = jobs.filter(([, { steps }]) =>
    steps.some(({ with: options }) => options?.['path'] === 'artifacts/sbom'),
  )
  assert.equal(uploading.length, 2)
  for (const [name, { steps }] of uploading) {
    const commands = steps.map(({ run = '' }) => run).join('\n')
    assert.match(commands, /sign-blob --yes --bundle "\$file\.sigstore\.json" "\$file"/, name)
  }
})

test('every file has the version of the packages, and another version is reported', () => {
  const { version } = JSON.parse(read('package.json'))
  assert.deepEqual(findOtherVersions(version), [])
  const others = findOtherVersions('99.0.0')
  assert.ok(
    others.includes(`package.json is ${version}, not 99.0.0. Change it before the release.`),
  )
  assert.ok(others.some((line) => line.includes('Chart.yaml: appVersion')))
})

test('every published package has a changelog with its version, and the index links to it', () => {
  const index = read('CHANGELOG.md')
  for (const { name, manifest } of findPublishedPackages()) {
    const file = `packages/${name}/CHANGELOG.md`
    assert.ok(index.includes(`](${file})`), name)
    const text = read(file)
    assert.ok(text.startsWith(`# Changelog of \`${manifest.name}\`\n`), name)
    assert.ok(text.includes(`\n## ${manifest.version}, `), name)
  }
})

test('the provenance names the commit and the workflow', () => {
  const env = {
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'portcullis/portcullis',
    GITHUB_REF: 'refs/tags/v1.0.0',
    GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    GITHUB_RUN_ID: '7',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_WORKFLOW_REF: 'portcullis/portcullis/.github/workflows/release.yml@refs/tags/v1.0.0',
  }
  const text = JSON.stringify(toProvenance(readRunEnvironment(env)))
  assert.ok(text.includes(`"gitCommit":"${env.GITHUB_SHA}"`))
  assert.ok(text.includes('"path":".github/workflows/release.yml"'))
  const { GITHUB_SHA: _, ...incomplete } = env
  assert.throws(() => readRunEnvironment(incomplete), /GITHUB_SHA is not set/)
})
