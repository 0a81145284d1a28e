/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, send } from '../support/http-client.ts'

const day = 86_400_000
const home = '2001:db8:1:2::1'
const codeOf = ({ status, body }: HttpAnswer) => body.error_code ?? status

interface Target {
  readonly token: string
  readonly factorId: string
}

test('guessing codes of second factors', async (t) => {
  const server = await openFlowServer(t, { ...factorEnvironment, AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, clock } = server
  const calls = createFactorCalls(server)
  const atHome = (ip = home) => ({ 'x-forwarded-for': ip })

  /** Requests a challenge and answers it from one address. */
  const answer = async ({ token, factorId }: Target, code: string, ip = home) => {
    const options = { token, headers: atHome(ip) }
    const { body } = await send(url, `/factors/${factorId}/challenge`, { ...options, body: {} })
    return send(url, `/factors/${factorId}/verify`, {
      ...options,
      body: { challenge_id: body.id, code },
    })
  }
  /** Creates a user who has verified a factor at the home address. */
  const newOwner = async () => {
    const who = await calls.newSignedInUser()
    const { body } = await calls.enroll(who)
    const app = createApp(body.totp.secret, clock)
    const factorId: string = body.id
    calls.take(who, await answer({ token: who.token, factorId }, app.nextCode()))
    /** An attacker who knows the password has a session at aal1. */
    const enter = async (): Promise<Target> => ({
      token: (await calls.signIn(who.email)).token,
      factorId,
    })
    return { ...who, factorId, app, enter }
  }
  /**
   * Sends wrong codes in new sessions until they are refused.
   * @returns how many were checked.
   */
  const guessOn = async (
    owner: Awaited<ReturnType<typeof newOwner>>,
    toAddress: (at: number) => string,
    most: number,
  ) => {
    let looked = 0
    let session = await owner.enter()
    for (let at = 0; at < most; at += 1) {
      if (at % 9 === 0) session = await owner.enter()
      const result = codeOf(await answer(session, owner.app.wrongCode(), toAddress(at)))
      if (result === 'over_request_rate_limit') break
      assert.equal(result, 'mfa_verification_failed')
      looked += 1
    }
    return looked
  }

  await t.test(
    'ten wrong codes lock the session that sent them, and no other (property 54)',
    async () => {
      const owner = await newOwner()
      const attacker = await owner.enter()
      for (let at = 0; at < 10; at += 1) {
        const guessed = await answer(attacker, owner.app.wrongCode(), '203.0.113.1')
        assert.equal(codeOf(guessed), 'mfa_verification_failed')
      }
      // The session is locked from any address, even with the right code.
      for (const ip of ['203.0.113.1', '203.0.113.2', home]) {
        const locked = await answer(attacker, owner.app.nextCode(), ip)
        assert.equal(codeOf(locked), 'over_request_rate_limit')
        const seconds = Number(locked.headers.get('retry-after'))
        assert.ok(seconds > 400 && seconds <= 600, `${seconds}`)
      }
      // The owner can verify a code, at home and elsewhere.
      assert.equal((await answer(await owner.enter(), owner.app.nextCode())).status, 200)
      const elsewhere = await answer(await owner.enter(), owner.app.nextCode(), '198.51.100.1')
      assert.equal(elsewhere.status, 200)
    },
  )

  await t.test(
    'the owner is not locked even if the attacker has the same address (property 54)',
    async () => {
      const owner = await newOwner()
      const attacker = await owner.enter()
      for (let at = 0; at < 10; at += 1) await answer(attacker, owner.app.wrongCode())
      const locked = await answer(attacker, owner.app.nextCode())
      assert.equal(codeOf(locked), 'over_request_rate_limit')
      assert.equal((await answer(await owner.enter(), owner.app.nextCode())).status, 200)
    },
  )

  await t.test(
    'a session is locked for ten minutes, and a success resets the count (property 54)',
    async (t) => {
      t.after(() => {
        clock.aheadMs = 0
      })
      const owner = await newOwner()
      const session = await owner.enter()
      for (let at = 0; at < 9; at += 1) await answer(session, owner.app.wrongCode())
      const { status, body } = await answer(session, owner.app.nextCode())
      assert.equal(status, 200)
      const raised = { token: body.access_token as string, factorId: owner.factorId }
      for (let at = 0; at < 10; at += 1) {
        assert.equal(codeOf(await answer(raised, owner.app.wrongCode())), 'mfa_verification_failed')
      }
      assert.equal(codeOf(await answer(raised, owner.app.nextCode())), 'over_request_rate_limit')
      clock.aheadMs += 601_000
      assert.equal((await answer(raised, owner.app.nextCode())).status, 200)
    },
  )

  await t.test(
    'many sessions do not help: 50 guesses a day, 25 at once (property 54)',
    async (t) => {
      t.after(() => {
        clock.aheadMs = 0
      })
      const owner = await newOwner()
      const anywhere = (at: number) => `203.0.113.${at}`
      assert.equal(await guessOn(owner, anywhere, 60), 25)
      const refused = await answer(await owner.enter(), owner.app.nextCode(), '198.51.100.1')
      assert.equal(codeOf(refused), 'over_request_rate_limit')
      const seconds = Number(refused.headers.get('retry-after'))
      assert.ok(seconds > 3_000 && seconds <= 3_456, `${seconds}`)
      // The owner has another address of the same network today.
      const again = '2001:db8:1:2:ffff::7'
      assert.equal((await answer(await owner.enter(), owner.app.nextCode(), again)).status, 200)
      // This holds for the whole day.
      let looked = 25
      for (let hours = 1; hours <= 23; hours += 1) {
        clock.aheadMs += 3_600_000
        looked += await guessOn(owner, anywhere, 60)
      }
      assert.ok(looked >= 45 && looked <= 50, `${looked}`)
      assert.equal((await answer(await owner.enter(), owner.app.nextCode(), again)).status, 200)
      // Without an attack the count expires after a day.
      clock.aheadMs += day
      const elsewhere = await answer(await owner.enter(), owner.app.nextCode(), '198.51.100.1')
      assert.equal(elsewhere.status, 200)
    },
  )

  await t.test(
    'a known address of the owner has its own limit of the same size (property 54)',
    async () => {
      const owner = await newOwner()
      assert.equal(await guessOn(owner, () => home, 60), 25)
      // Only clients at the home address are affected.
      const elsewhere = await answer(await owner.enter(), owner.app.nextCode(), '198.51.100.1')
      assert.equal(elsewhere.status, 200)
    },
  )

  await t.test('concurrent guesses are counted as well (property 54)', async () => {
    const owner = await newOwner()
    // Sessions are opened one by one, because a new link replaces the previous one.
    const sessions: Target[] = []
    while (sessions.length < 6) sessions.push(await owner.enter())
    const guesses = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        answer(sessions[at % 6] as Target, owner.app.wrongCode(), `203.0.113.${at}`),
      ),
    )
    const looked = guesses.filter((guess) => codeOf(guess) === 'mfa_verification_failed')
    assert.equal(looked.length, 25)
  })

  await t.test('wrong recovery codes lock only their session (property 54)', async () => {
    const owner = await newOwner()
    const { body } = await calls.call(owner, '/factors/recovery-codes')
    const verify = ({ token }: Pick<Target, 'token'>, code: string) =>
      send(url, '/factors/recovery-codes/verify', { token, body: { code } })
    const attacker = await owner.enter()
    for (let at = 0; at < 10; at += 1) {
      assert.equal(codeOf(await verify(attacker, 'x'.repeat(16))), 'mfa_verification_failed')
    }
    const locked = await verify(attacker, body.codes[0])
    assert.equal(codeOf(locked), 'mfa_recovery_codes_locked')
    // Codes of the app are not affected.
    assert.equal(codeOf(await answer(attacker, owner.app.wrongCode())), 'mfa_verification_failed')
    assert.equal((await verify(await owner.enter(), body.codes[0])).status, 200)
  })
})
