import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyVariable, hideAll, hideCredentials } from '@portcullis/service-kit/settings/env'
import { chapters, parseConfig } from '../../src/config/config.ts'

const variables: readonly AnyVariable[] = Object.values(chapters).flatMap((chapter) =>
  Object.values<AnyVariable>(chapter.variables),
)

test('no declared secret occurs in the settings, in whole or in part', () => {
  const secrets = variables.filter(({ mask }) => mask === hideAll)
  const addresses = variables.filter(({ mask }) => mask === hideCredentials)
  assert.ok(secrets.length >= 6, `${secrets.length} secrets`)
  const { effective } = parseConfig(
    Object.fromEntries([
      ...secrets.map(({ name }) => [name, `hunter2-${name}`]),
      ...addresses.map(({ name }) => [name, 'redis://ada:hunter2@host.example:6379']),
    ]),
  ).config
  assert.ok(!JSON.stringify(effective).includes('hunter2'))
  const byName = new Map(effective.map((setting) => [setting.name, setting]))
  for (const { name } of secrets) {
    const { is_secret: isSecret, is_set: isSet, value } = byName.get(name) ?? {}
    assert.deepEqual([isSecret, isSet, value], [true, true, null], name)
  }
  for (const { name } of addresses) {
    assert.equal(byName.get(name)?.value, 'redis://*****@host.example:6379')
  }
})

test('every variable whose name suggests a secret is declared as one', () => {
  for (const { name, mask } of variables) {
    if (/SECRET|PASSWORD|TOKEN|_AUTH$|_HEADERS$/.test(name)) assert.equal(mask, hideAll, name)
  }
})

test('an argument overrides the environment, and the source shows it', () => {
  const { config } = parseConfig({ RUNTIME_ROOT: '/env', PORT: '1' }, { RUNTIME_ROOT: '/argument' })
  const find = (name: string) => {
    const { source, value } = config.effective.find((each) => each.name === name) ?? {}
    return [source, value]
  }
  assert.deepEqual(find('RUNTIME_ROOT'), ['argument', '/argument'])
  assert.deepEqual(find('PORT'), ['environment', '1'])
  assert.deepEqual(find('GRPC_PORT'), ['default', '8081'])
})
