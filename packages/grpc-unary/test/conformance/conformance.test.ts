import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createGrpcServer } from '../../src/index.ts'
import type { Cases } from './case.ts'
import { compression } from './cases/compression.ts'
import { flowControl } from './cases/flow-control.ts'
import { frames } from './cases/frames.ts'
import { messages } from './cases/messages.ts'
import { framing, starting } from './cases/starting.ts'
import { streams } from './cases/streams.ts'
import { exchange } from './exchange.ts'

// The cases of h2spec, and some more, written as frames, so that no other program is needed.
// Connection errors must have the right code, whereas h2spec also accepts a closed connection.

const sections: Readonly<Record<string, Cases>> = {
  'Starting HTTP/2': starting,
  Frames: framing,
  Streams: streams,
  'Frame definitions': frames,
  'Flow control': flowControl,
  'Requests and responses': messages,
  'Header compression': compression,
}

const server = createGrpcServer({
  limits: { concurrentStreams: 4 },
  methods: {
    '/test.Echo/Say': {
      kind: 'unary',
      handle: (call) => call.send(call.buffer, call.start, call.end),
    },
    '/test.Echo/Wait': { kind: 'unary', handle() {} },
  },
})
let port = 0

before(async () => {
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  assert.ok('port' in bound)
  port = bound.port
})

after(() => server.close())

for (const [section, cases] of Object.entries(sections)) {
  describe(section, () => {
    for (const [what, one] of Object.entries(cases)) {
      test(what, async () => {
        assert.equal(one.expect(await exchange(port, one)), undefined)
      })
    }
  })
}
