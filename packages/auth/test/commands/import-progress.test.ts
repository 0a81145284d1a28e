import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImportProgress } from '../../src/commands/import-progress.ts'

function open(isTerminal: boolean) {
  let text = ''
  const stderr = {
    write(part: string) {
      text += part
    },
  }
  const progress = createImportProgress({ stdout: stderr, stderr, env: {}, isTerminal })
  return { progress, text: () => text }
}

test('a terminal shows one progress bar per table', () => {
  const { progress, text } = open(true)
  progress.show({ label: 'users', done: 0, total: 4 })
  progress.show({ label: 'users', done: 2, total: 4 })
  progress.show({ label: 'users', done: 4, total: 4 })
  progress.show({ label: 'sessions', done: 1, total: 3 })
  progress.end()
  const line = (bar: string, rest: string) => `\r\u001B[K[${bar}] ${rest}`
  const lines = [
    line('.'.repeat(30), 'users: 0 of 4'),
    line(`${'#'.repeat(15)}${'.'.repeat(15)}`, 'users: 2 of 4'),
    line('#'.repeat(30), 'users: 4 of 4\n'),
    line(`${'#'.repeat(10)}${'.'.repeat(20)}`, 'sessions: 1 of 3'),
    '\n',
  ]
  assert.equal(text(), lines.join(''))
})

test('a pipe gets one line per table instead of one per batch', () => {
  const { progress, text } = open(false)
  for (const done of [0, 1, 2, 4]) progress.show({ label: 'users', done, total: 4 })
  progress.show({ label: 'passkeys', done: 0, total: 0 })
  progress.show({ label: 'passkeys', done: 0, total: 0 })
  progress.end()
  assert.equal(text(), 'users: 4 of 4\npasskeys: 0 of 0\n')
})
