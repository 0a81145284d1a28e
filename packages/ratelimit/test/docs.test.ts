import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { toMarkdown } from '@portcullis/service-kit/settings/settings-help'
import { parseDocument } from 'yaml'
import { chapters } from '../src/config/config.ts'
import { beyondGrpcLimits, grpcLimits } from '../src/config/grpc-limits.ts'
import { compileRules } from '../src/rules/match/snapshot.ts'
import { parseRuleFiles } from '../src/rules/yaml/parse.ts'
import { Statistics } from '../src/stats/registry.ts'

const root = join(import.meta.dirname, '../../..')
const manual = readFileSync(join(root, 'docs/ratelimit.md'), 'utf8')

test('the page of environment variables matches the code', () => {
  const page = join(root, 'docs/ratelimit-environment.md')
  const expected = `# Environment variables of the rate limit service

Generated from the code by \`UPDATE_DOCS=1 npm test -- packages/ratelimit/test/docs.test.ts\`. Durations
are written as in Go: \`300ms\`, \`1.5h\`, \`2h45m\`. A second name in a row is an alias; if both are set, the
first one is used.

${toMarkdown(chapters, 2)}`
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, expected)
  assert.equal(readFileSync(page, 'utf8'), expected, 'docs/ratelimit-environment.md is out of date')
})

test('the table of the limits of the gRPC listener matches the code', () => {
  const path = join(root, 'docs/ratelimit.md')
  const beyond = new Map(Object.entries(beyondGrpcLimits))
  const rows = Object.entries(grpcLimits.variables).map(
    ([limit, { name, defaultText, help }]) =>
      `| \`${name}\` | \`${defaultText}\` | ${help} | ${beyond.get(limit)} |`,
  )
  const table = [
    '| setting | default | limit | when exceeded |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
  const between = /(<!-- grpc limits -->\n).*?(<!-- \/grpc limits -->)/s
  const expected = manual.replace(between, (_, start, end) => `${start}${table}\n${end}`)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, expected)
  assert.match(manual, between)
  assert.equal(readFileSync(path, 'utf8'), expected, 'docs/ratelimit.md is out of date')
})

test('the rules in the manual load without faults or warnings', () => {
  const blocks = [...manual.matchAll(/```yaml rules\n(.*?)```/gs)].map(([, text = '']) => text)
  assert.ok(blocks.length > 0)
  for (const text of blocks) {
    const parsed = parseRuleFiles([{ name: 'manual.yaml', text }], { mergeDomains: false })
    assert.deepEqual([...parsed.faults, ...parsed.warnings], [])
    const { rules } = new Statistics({ maxRequestKeys: 10 })
    assert.ok([...compileRules(parsed.rules, rules).describe()].length > 0)
  }
})

test('every variable and every file in the manual exists', () => {
  const known = new Set(
    Object.values(chapters).flatMap(({ variables }) =>
      Object.values(variables).flatMap(({ name, aliases }) => [name, ...aliases]),
    ),
  )
  const named = [...manual.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
  assert.ok(named.length > 10)
  for (const [, name = ''] of named) {
    const isTheirs = name.startsWith('OTEL_EXPORTER_OTLP_') || name === 'OTEL_RESOURCE_ATTRIBUTES'
    assert.ok(isTheirs || known.has(name), `${name} is not a variable`)
  }
  for (const [, link = ''] of manual.matchAll(/\]\(([^)#]+)/g)) {
    assert.doesNotThrow(() => readFileSync(join(root, 'docs', link)), `${link} does not exist`)
  }
})

test('the commands in the manual that need no server produce the documented output', async () => {
  const lines = [
    ...manual
      .replaceAll(/ \\\n +/g, ' ')
      .matchAll(/^npm run ratelimit -- ((?:check|explain|test|replay) .*)$/gm),
  ]
  assert.deepEqual(
    lines.map(([, line = '']) => line.split(' ')[0]),
    ['check', 'explain', 'test', 'replay'],
  )
  const run = promisify(execFile)
  const outputs = await Promise.all(
    lines.map(([, line = '']) => {
      // Split the line like a shell, without the chart, which is not checked here.
      const words = line
        .replace(/ --chart \S+/, '')
        .replaceAll("'", '')
        .split(' ')
      return run(process.execPath, ['packages/ratelimit/src/main.ts', ...words], { cwd: root })
    }),
  )
  assert.match(outputs[0]?.stdout ?? '', /all rate limit configs ok/)
  assert.match(outputs[1]?.stdout ?? '', /counter +api_path_\/admin\/users_\d+/)
  assert.match(outputs[2]?.stdout ?? '', /13 tests passed/)
  assert.match(outputs[3]?.stdout ?? '', /api\.path_\/search +20\/second +33 +26 +4 +7/)
})

test('the Envoy example configuration uses a domain of the rules next to it', () => {
  const text = readFileSync(join(root, 'examples/envoy/envoy.yaml'), 'utf8')
  const document = parseDocument(text)
  assert.deepEqual(document.errors, [])
  const [listener] = document.toJS().static_resources.listeners
  const manager = listener.filter_chains[0].filters[0].typed_config
  assert.equal(manager.http_filters[0].typed_config.domain, 'web')
  assert.match(readFileSync(join(root, 'examples/envoy/rules/web.yaml'), 'utf8'), /^domain: web$/m)
})
