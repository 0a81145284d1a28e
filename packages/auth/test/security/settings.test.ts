import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyVariable, hideAll, hideCredentials } from '@portcullis/service-kit/settings/env'
import { chapters, parseConfig } from '../../src/config/config.ts'

const variables: readonly AnyVariable[] = Object.values(chapters).flatMap((chapter) =>
  Object.values<AnyVariable>(chapter.variables),
)

test('no declared secret occurs in the settings, in whole or in part (property 67)', () => {
  const secrets = variables.filter(({ mask }) => mask === hideAll)
  const addresses = variables.filter(({ mask }) => mask === hideCredentials)
  assert.ok(secrets.length > 40, `${secrets.length} secrets`)
  assert.ok(addresses.length > 8, `${addresses.length} addresses`)
  const values = Object.fromEntries([
    ...secrets.map(({ name }) => [name, `hunter2-${name}`]),
    ...addresses.map(({ name }) => [
      name,
      `https://ada:hunter2@host.example/${name}?token=hunter2`,
    ]),
    ['AUTH_SMS_TEST_OTP', '15550100:424242,15550101:424242'],
  ])
  for (const sources of [[values], [{}, values]]) {
    const { effective } = parseConfig(...sources).config
    const text = JSON.stringify(effective)
    assert.ok(!text.includes('hunter2'))
    assert.ok(!text.includes('424242'))
    const byName = new Map(effective.map((setting) => [setting.name, setting]))
    for (const { name } of secrets) {
      const { is_secret: isSecret, is_set: isSet, value } = byName.get(name) ?? {}
      assert.deepEqual([isSecret, isSet, value], [true, true, null], name)
    }
    for (const { name } of addresses) assert.match(byName.get(name)?.value ?? '', /host\.example/)
  }
})

test('every text whose name suggests a secret is declared as one (property 67)', () => {
  /** Names of keys and clients, their scopes, paths, rules for passwords, addresses and subjects. */
  const harmless =
    /_KEY_ID$|_FILE$|_CHARACTERS$|_USER_AGENT$|_UR[IL]$|_SUBJECTS_|_CLIENT_IDS?$|_ISSUERS$|_SCOPES$/
  const texts = variables.filter(({ type }) => ['string', 'list', 'map'].includes(type.name))
  const suspicious = texts.filter(
    ({ name }) => /SECRET|PASS|TOKEN|KEY|SERVICE_HEADERS$/.test(name) && !harmless.test(name),
  )
  assert.ok(suspicious.length > 40, `${suspicious.length}`)
  for (const { name, mask } of suspicious) {
    if (mask !== hideCredentials) assert.equal(mask, hideAll, name)
  }
})
