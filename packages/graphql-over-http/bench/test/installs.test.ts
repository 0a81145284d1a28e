import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { nodeOf } from '../installs.ts'

test('contenders on uWebSockets run on Node 22, all others on the pinned Node', () => {
  const toVersion = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' })
  assert.match(toVersion(nodeOf('runtimes')), /^v22\./)
  assert.equal(nodeOf('peers'), process.execPath)
})
