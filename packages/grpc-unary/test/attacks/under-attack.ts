import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type GrpcClient, openGrpcClient } from '../../src/client.ts'
import { errorCode } from '../../src/http2/frames.ts'
import type { Limits } from '../../src/limits.ts'
import { openEchoServer, type TestServer, until } from '../support/echo-server.ts'
import { RawClient } from '../support/raw-client.ts'

export const SAY = '/test.Echo/Say'
export const WAIT = '/test.Echo/Wait'
export const STREAM = '/test.Echo/Stream'

/** A server with a legitimate client that makes calls during the attack. */
export interface UnderAttack extends TestServer {
  /** The number of calls of the legitimate client that were answered. */
  readonly answered: number
}

/**
 * Runs an attack. During it the legitimate client must be served without an error; afterwards the
 * attacker's connections and calls must be gone.
 */
export async function underAttack(
  t: TestContext,
  limits: Partial<Limits>,
  attack: (target: UnderAttack) => Promise<void>,
): Promise<void> {
  const echo = await openEchoServer(t, { limits })
  const client = await openGrpcClient({ address: `127.0.0.1:${echo.port}` })
  t.after(() => client.close())
  const legitimate = keepCalling(client)
  const target: UnderAttack = {
    ...echo,
    get answered() {
      return legitimate.answered
    },
  }
  await until(() => legitimate.answered > 0)
  await attack(target)
  const before = legitimate.answered
  await until(() => legitimate.answered > before + 1)
  await legitimate.stop()
  await until(() => echo.server.connections === 1)
  assert.ok(echo.waiting.every((call) => !call.isOpen))
}

function keepCalling(client: GrpcClient) {
  let isOver = false
  const message = Buffer.from('a question')
  const legitimate = {
    answered: 0,
    async stop(): Promise<void> {
      isOver = true
      await over
    },
  }
  async function call(): Promise<void> {
    while (!isOver) {
      const { code, response } = await client.call(SAY, message, { deadlineMs: 60_000 })
      assert.equal(code, 0)
      assert.deepEqual(response, message)
      legitimate.answered++
      await wait(1)
    }
  }
  const over = call()
  return legitimate
}

/**
 * Sends everything at once, and expects the server to close the connection because of this limit.
 */
export async function expectEnhanceYourCalm(
  port: number,
  limit: string,
  ...frames: readonly Uint8Array[]
): Promise<void> {
  using attacker = await RawClient.open(port)
  attacker.send(...frames)
  const { code, reason } = await attacker.goaway()
  assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
  assert.match(reason, new RegExp(limit))
  await attacker.ended()
}

export function repeat(times: number, create: (index: number) => Uint8Array): Uint8Array[] {
  return Array.from({ length: times }, (_, index) => create(index))
}
