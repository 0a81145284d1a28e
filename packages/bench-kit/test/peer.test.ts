import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '../src/options.ts'
import { type PeerOptions, parsePeer } from '../src/peer.ts'

interface Options extends PeerOptions {
  readonly 'peer-pid'?: string
}

const parse = (options: Options) => parsePeer(options, ['peer-pid'], (address) => ({ address }))

test('a peer is started, already running, or absent', () => {
  assert.deepEqual(parse({}), { kind: 'none' })
  assert.deepEqual(parse({ 'peer-program': 'file' }), { kind: 'program', file: 'file' })
  assert.deepEqual(parse({ peer: 'a:1', 'peer-pid': '7' }), { kind: 'running', address: 'a:1' })
})

test('two peers, and options of a peer that is not given, are errors', () => {
  const refused = (message: RegExp) => (error: unknown) =>
    error instanceof UsageError && message.test(error.message)
  assert.throws(() => parse({ peer: 'a:1', 'peer-program': 'file' }), refused(/not both/))
  assert.throws(() => parse({ 'peer-pid': '7' }), refused(/^--peer-pid needs --peer\.$/))
})
