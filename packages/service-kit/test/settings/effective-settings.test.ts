import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type EffectiveSetting,
  listEffectiveSettings,
} from '../../src/settings/effective-settings.ts'
import {
  boolean,
  duration,
  type Environment,
  hideAll,
  hideCredentials,
  list,
  readSettings,
  string,
} from '../../src/settings/env.ts'

const chapters = {
  one: {
    title: 'One',
    variables: {
      secret: string('KIT_SECRET', '', 'A secret', { mask: hideAll }),
      url: string('KIT_URL', '', 'An address', { mask: hideCredentials, defaultText: 'none' }),
      site: string('KIT_SITE', '', 'An address without a mask'),
    },
  },
  two: {
    title: 'Two',
    variables: {
      isOn: boolean('KIT_ON', true, 'A switch', { aliases: ['OLD_ON'] }),
      waitMs: duration('KIT_WAIT', '10s', 'A duration'),
      names: list('KIT_NAMES', ['a'], 'Names'),
    },
  },
}

function listFrom(...sources: readonly Environment[]): Record<string, EffectiveSetting> {
  const reading = readSettings(chapters, ...sources)
  const settings = listEffectiveSettings(chapters, reading, ['environment', 'file'])
  return Object.fromEntries(settings.map((setting) => [setting.name, setting]))
}

test('a setting without a value has its default, as the manual shows it', () => {
  const { KIT_URL, KIT_WAIT } = listFrom({})
  assert.deepEqual(KIT_WAIT, {
    name: 'KIT_WAIT',
    chapter: 'Two',
    help: 'A duration',
    type: 'duration',
    default: '10s',
    source: 'default',
    is_secret: false,
    is_set: false,
    is_changed: false,
    value: '10s',
  })
  assert.equal(KIT_URL?.value, 'none')
})

test('the source is that of the value, and an alias is reported', () => {
  const { KIT_ON, KIT_WAIT, KIT_NAMES } = listFrom(
    { OLD_ON: 'false', KIT_WAIT: '5s' },
    { KIT_WAIT: '1s', KIT_NAMES: 'b, c' },
  )
  assert.deepEqual(
    [KIT_ON?.source, KIT_ON?.set_as, KIT_ON?.value],
    ['environment', 'OLD_ON', 'false'],
  )
  assert.deepEqual(
    [KIT_WAIT?.source, KIT_WAIT?.set_as, KIT_WAIT?.value],
    ['environment', undefined, '5s'],
  )
  assert.deepEqual([KIT_NAMES?.source, KIT_NAMES?.value], ['file', 'b, c'])
})

test('a value that means the same as the default is set, but not changed', () => {
  const { KIT_ON, KIT_WAIT, KIT_NAMES } = listFrom({
    KIT_ON: '1',
    KIT_WAIT: '10000ms',
    KIT_NAMES: 'b',
  })
  assert.deepEqual([KIT_ON?.is_set, KIT_ON?.is_changed], [true, false])
  assert.deepEqual([KIT_WAIT?.is_set, KIT_WAIT?.is_changed], [true, false])
  assert.deepEqual([KIT_NAMES?.is_set, KIT_NAMES?.is_changed], [true, true])
})

test('a secret has no value, only whether it is set', () => {
  const { KIT_SECRET } = listFrom({ KIT_SECRET: 'hunter2' })
  assert.deepEqual(
    [KIT_SECRET?.is_secret, KIT_SECRET?.is_set, KIT_SECRET?.value],
    [true, true, null],
  )
  assert.equal(listFrom({ KIT_SECRET: '' })['KIT_SECRET']?.is_set, false)
  assert.equal(listFrom({})['KIT_SECRET']?.is_set, false)
})

for (const address of [
  'redis://ada:hunter2@host:1/x',
  'https://hunter2@host/',
  'https://host/x?api_key=hunter2&y=1',
  'https://host/x?X-Amz-Signature=hunter2',
  'https://host/x?y=1&access_token=hunter2',
  'https://host/?sslpassword=hunter2',
]) {
  test(`credentials in ${address} are hidden, even if the variable has no mask`, () => {
    const settings = listFrom({ KIT_URL: address, KIT_SITE: address })
    for (const name of ['KIT_URL', 'KIT_SITE']) {
      assert.match(settings[name]?.value ?? '', /host/)
      assert.ok(!settings[name]?.value?.includes('hunter2'), settings[name]?.value ?? '')
    }
  })
}

test('other parameters of an address stay visible', () => {
  const { KIT_URL } = listFrom({ KIT_URL: 'postgres://host/db?sslmode=require&schema=auth' })
  assert.equal(KIT_URL?.value, 'postgres://host/db?sslmode=require&schema=auth')
})
