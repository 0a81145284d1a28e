import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'
import { provideOrSkip } from '@portcullis/test-servers'

const root = join(import.meta.dirname, '../../../..')
const folder = join(root, 'examples/systemd')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const services = ['auth', 'ratelimit'] as const

/** Copies with the Node executable of this test, because systemd checks that it exists. */
function openUnits(t: TestContext): string[] {
  const copies = mkdtempSync(join(tmpdir(), 'portcullis-units-'))
  t.after(() => rmSync(copies, { recursive: true, force: true }))
  const names = readdirSync(folder).filter((name) => /\.(?:service|target)$/.test(name))
  return names.map((name) => {
    const path = join(copies, name)
    writeFileSync(path, read(name).replaceAll('/usr/bin/node', process.execPath))
    return path
  })
}

test('systemd reports no errors in the units', async (t) => {
  const program = await provideOrSkip(t, 'systemd-analyze')
  if (program === undefined) return
  const units = openUnits(t)
  assert.equal(units.length, 3)
  const output = execFileSync(program, ['verify', '--man=no', ...units], { stdio: 'pipe' })
  assert.equal(output.toString(), '')
})

test('systemd rates the services as well protected', async (t) => {
  const program = await provideOrSkip(t, 'systemd-analyze')
  if (program === undefined) return
  for (const unit of openUnits(t).filter((path) => path.endsWith('.service'))) {
    const args = ['security', '--offline=true', '--no-pager', unit]
    const output = execFileSync(program, args, { encoding: 'utf8' })
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? []
    assert.ok(Number(exposure) <= 2, exposure)
  }
})

test('a service has more time to stop than its default drain time', () => {
  const drains = {
    auth: [['docs/auth-environment.md', 'AUTH_DRAIN_TIMEOUT']],
    ratelimit: [
      ['docs/ratelimit-environment.md', 'DRAIN_DELAY'],
      ['docs/ratelimit-environment.md', 'DRAIN_TIMEOUT'],
    ],
  } as const
  for (const name of services) {
    const seconds = drains[name].map(([manual, variable]) => {
      const row = new RegExp(`\`${variable}\`.*?\\| duration \\| \`(\\d+)s\``)
      return Number(row.exec(readFileSync(join(root, manual), 'utf8'))?.[1])
    })
    const drain = seconds.reduce((sum, each) => sum + each, 0)
    const [, stop] = /^TimeoutStopSec=(\d+)$/m.exec(read(`${name}.service`)) ?? []
    assert.ok(drain > 0 && Number(stop) > drain, `${stop} s for ${drain} s`)
  }
})

test('every variable in the settings is known to its server', () => {
  for (const name of services) {
    const manual = readFileSync(join(root, `docs/${name}-environment.md`), 'utf8')
    for (const variable of Object.keys(parseEnv(read(`${name}.env`)))) {
      assert.ok(manual.includes(`\`${variable}\``), variable)
    }
  }
})

test('the auth server accepts its settings', () => {
  const program = join(root, 'packages/auth/src/main.ts')
  const args = [program, 'config', 'check', '--config', join(folder, 'auth.env')]
  const env = { PATH: process.env['PATH'] }
  const output = execFileSync(process.execPath, args, { env, encoding: 'utf8' })
  assert.match(output, /^The configuration is valid\.$/m)
  assert.doesNotMatch(output, /^warning/m)
})

for (const name of ['auth.service', 'ratelimit.service', 'portcullis.target', 'auth.env']) {
  test(`the first line of ${name} states that it was not run by systemd`, () => {
    assert.match(read(name).split('\n')[0] ?? '', /not run by systemd/i)
  })
}
