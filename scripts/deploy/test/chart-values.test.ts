import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { runCommand } from '../../../packages/auth/test/support/auth-command.ts'
import {
  debugTokenVariable,
  keyVariable,
} from '../../../packages/portcullis/src/commands/server-arguments.ts'
import { parseRuleFiles } from '../../../packages/ratelimit/src/rules/yaml/parse.ts'
import { chartFolder, readChartYaml, root, valueFiles } from '../chart.ts'
import { knownVariables } from './support/variables.ts'

const read = (file: string) => readFileSync(join(chartFolder, file), 'utf8')
const templates = globSync('templates/**/*', { cwd: chartFolder, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n')

/** The variables that the chart sets for a server. Values that templates compute are replaced. */
function readOwnSettings(server: string): Readonly<Record<string, string>> {
  const start = `{{- define "portcullis.${server}.ownSettings" -}}\n`
  const [, after = ''] = read('templates/_settings.tpl').split(start)
  const [block = ''] = after.split('\n{{- end -}}')
  // A number takes the place of a computed value, and is valid with the unit that may follow it.
  return parse(block.replaceAll(/\{\{.*?\}\}/g, '1'))
}

for (const [server, names] of Object.entries(knownVariables)) {
  test(`${server}: every variable in the chart and its examples exists`, () => {
    const own = Object.keys(readOwnSettings(server))
    assert.ok(own.length > 5)
    const values = valueFiles.map((file) => parse(readFileSync(file, 'utf8'))[server] ?? {})
    const used = values.flatMap(({ config = {}, secret = {} }) =>
      Object.keys({ ...config, ...secret }),
    )
    assert.ok(used.length > 3)
    assert.deepEqual(
      [...own, ...used].filter((name) => !names.has(name)),
      [],
    )
  })
}

test('the README lists every variable that the chart sets', () => {
  const [, table = ''] = read('README.md').split('### Variables that the chart sets')
  const listed = new Set([...table.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name))
  const own = ['auth', 'ratelimit'].flatMap((server) => Object.keys(readOwnSettings(server)))
  assert.deepEqual(
    own.filter((name) => !listed.has(name)),
    [],
  )
})

test('every variable named in the README, the values and the notes exists', () => {
  const text = ['README.md', 'values.yaml', 'templates/NOTES.txt'].map(read).join('\n')
  const named = [...text.matchAll(/\b(?:(?:AUTH|KVSTORE|GRPC|DRAIN|PORTCULLIS)_[A-Z_]+[A-Z])\b/g)]
  assert.ok(named.length > 10)
  const own = [keyVariable, debugTokenVariable]
  const all = new Set([...knownVariables.auth, ...knownVariables.ratelimit, ...own])
  assert.deepEqual(
    named.map(([name]) => name).filter((name) => !all.has(name)),
    [],
  )
})

const schema = JSON.parse(read('values.schema.json'))
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema)

test('the schema accepts the defaults and every example', () => {
  for (const file of ['values.yaml', ...valueFiles.map((path) => `ci/${basename(path)}`)]) {
    assert.ok(validate(readChartYaml(file)), `${file}: ${JSON.stringify(validate.errors)}`)
  }
})

test('the schema refuses unknown values, unquoted numbers and invalid names', () => {
  const invalid = [
    { auht: {} },
    { auth: { replica: 3 } },
    { auth: { service: { headless: true } } },
    { auth: { config: { AUTH_JWT_EXP: 3600 } } },
    { ratelimit: { rules: { 'api.yml': 'domain: api' } } },
    { ratelimit: { store: 'disk' } },
    { auth: { image: { digest: 'latest' } } },
    { auth: { existingSecret: 'My_Secret' } },
  ]
  for (const values of invalid) assert.ok(!validate(values), JSON.stringify(values))
})

test('every value of the schema is in values.yaml, with its default', () => {
  const defaults = readChartYaml('values.yaml')
  const missing = listPaths(schema).filter((path) => !hasPath(defaults, path))
  // Helm adds this value to charts that are used as subcharts.
  assert.deepEqual(missing, [['global']])
})

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
}

function listPaths({ $ref, properties = {} }: Schema): string[][] {
  const inherited = $ref === undefined ? [] : listPaths(schema.$defs[basename($ref)])
  const own = Object.entries(properties).flatMap(([name, below]) => [
    [name],
    ...listPaths(below).map((path) => [name, ...path]),
  ])
  return [...inherited, ...own]
}

function hasPath(value: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return false
  return hasPath(Reflect.get(value, first), rest)
}

test('every value that a template reads from the root exists', () => {
  const defaults = readChartYaml('values.yaml')
  const paths = [...templates.matchAll(/\.Values((?:\.[a-z]\w*)+)/g)].map(([, path = '']) => path)
  assert.ok(paths.length > 20)
  const missing = paths.filter((path) => !hasPath(defaults, path.slice(1).split('.')))
  assert.deepEqual(missing, [])
})

test('every value of the chart that the docs name exists, and their examples are valid', () => {
  const defaults = readChartYaml('values.yaml')
  const pages = globSync(['deploy/**/*.md', 'docs/{monitoring,releases}.md'], { cwd: root })
  const texts = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  const parts = Object.keys(defaults).join('|')
  const named = [
    ...texts.matchAll(new RegExp(`\`((?:${parts})(?:\\.[a-z]\\w*)+)(?:: [^\`]+)?\``, 'g')),
  ]
  assert.ok(named.length > 20)
  const missing = named
    .map(([, path = '']) => path)
    .filter((path) => !hasPath(defaults, path.split('.')))
  assert.deepEqual(missing, [])
  const examples = [...read('README.md').matchAll(/^ *```yaml\n(.*?)^ *```$/gms)]
  assert.equal(examples.length, 1)
  for (const [, example = ''] of examples) assert.ok(validate(parse(example)), example)
})

test('the auth server accepts the settings of the examples', async () => {
  for (const file of valueFiles) {
    const { auth } = parse(readFileSync(file, 'utf8'))
    if (auth.enabled === false) continue
    const secret = {
      AUTH_DB_DATABASE_URL: 'postgres://auth@postgres/app',
      AUTH_SECRETS_KEY: 'only-for-the-tests-of-the-chart-0123456789',
      AUTH_JWT_SECRET: 'only-for-the-tests-of-the-chart-0123456789',
    }
    const env = { ...secret, ...readOwnSettings('auth'), ...auth.config, ...auth.secret }
    const { code, stdout, stderr } = await runCommand(['config', 'check'], { env })
    assert.deepEqual([code, stderr], [0, ''], basename(file))
    assert.match(stdout, /The configuration is valid/)
  }
})

test('the rules of the examples have no errors', () => {
  for (const file of valueFiles) {
    const { rules = {} } = parse(readFileSync(file, 'utf8')).ratelimit
    const files = Object.entries(rules).map(([name, text]) => ({ name, text: `${text}` }))
    const { faults } = parseRuleFiles(files, { mergeDomains: false })
    assert.deepEqual(faults, [], basename(file))
  }
})

test('the chart has the version of the packages', () => {
  const { version, appVersion } = readChartYaml('Chart.yaml')
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.deepEqual([version, appVersion], [manifest.version, manifest.version])
})
