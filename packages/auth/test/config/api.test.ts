import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCheck } from '@portcullis/service-kit/settings/config-check'
import { readSettings, toFaultText } from '@portcullis/service-kit/settings/env'
import { processes, toWorkers } from '../../src/config/api.ts'

function read(text: string | undefined) {
  const reading = readSettings({ processes }, { WORKERS: text })
  const check = createCheck(reading)
  const workers = toWorkers(reading.settings.processes, check, 6)
  return { workers, faults: check.faults.map(toFaultText) }
}

test('the default is one process; others are set by number or one per core', () => {
  for (const [text, workers] of [
    [undefined, 1],
    ['', 1],
    ['1', 1],
    ['3', 3],
    ['1024', 1_024],
    ['0', 6],
    ['auto', 6],
    [' Auto ', 6],
  ] as const) {
    assert.deepEqual(read(text), { workers, faults: [] }, text)
  }
})

test('an invalid number of processes is reported by name', () => {
  for (const text of ['two', '-1', '1.5', '1025', '99999']) {
    const message = 'must be a whole number from 0 to 1024, or auto'
    assert.deepEqual(read(text).faults, [`WORKERS=${JSON.stringify(text)}: ${message}`])
  }
})
