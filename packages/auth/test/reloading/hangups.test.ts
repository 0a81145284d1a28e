import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHangups } from '../../src/reloading/hangups.ts'

test('without a terminal, SIGHUP reloads', () => {
  const hangups = createHangups(() => false)
  let reloads = 0
  hangups.attach(() => {
    reloads += 1
  })
  assert.equal(hangups.take(), true)
  assert.equal(reloads, 1)
})

test('a request to reload that arrives during the start is kept', () => {
  const hangups = createHangups(() => false)
  assert.equal(hangups.take(), true)
  let reloads = 0
  hangups.attach(() => {
    reloads += 1
  })
  assert.equal(reloads, 1)
})

test('in a terminal, SIGHUP reloads as long as the terminal is open, and then stops the server', () => {
  const open = new Set([0, 2])
  const hangups = createHangups((fd) => open.has(fd))
  let reloads = 0
  hangups.attach(() => {
    reloads += 1
  })
  assert.equal(hangups.take(), true)
  open.clear()
  assert.equal(hangups.take(), false)
  assert.equal(reloads, 1)
})
