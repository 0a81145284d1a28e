import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPasswordFormat, writtenFormats } from '../../src/passwords/formats/index.ts'

for (const [name, format] of Object.entries(writtenFormats)) {
  test(`an unusable hash can be parsed by ${name} and matches no password`, async () => {
    const hash = format.createUnusable()
    assert.equal(findPasswordFormat(hash), format)
    assert.equal(format.isCurrent(hash), true)
    for (const password of ['', hash, 'password']) {
      assert.equal(await format.verify(password, hash), false)
    }
    assert.notEqual(format.createUnusable(), hash)
  })
}
