/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { methodsByType } from '../../../src/features/factors/member.ts'
import { isSecondFactor } from '../../../src/features/sessions/refresh.ts'
import { claimsOf, createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { type HttpAnswer, send } from '../../support/http-client.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { type Expected, RefreshModel, type Token } from './refresh-model.ts'

const second = 1_000
const hour = 3_600 * second

const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value

interface Play {
  readonly server: FlowServer
  readonly calls: ReturnType<typeof createFactorCalls>
  readonly member: Awaited<ReturnType<ReturnType<typeof createFactorCalls>['newMember']>>
  readonly hasGrace: boolean
}

/** Plays one session against the model: refreshes, lost responses, tabs, waits and second factors. */
async function playSession({ server, calls, member, hasGrace }: Play, seed: number) {
  const random = createRandom(seed)
  const { clock } = server
  const first = await calls.signIn(member.email)
  const model = new RefreshModel(first.refreshToken, clock.now(), hasGrace)
  let access = first.token
  const history: string[] = []
  const label = (token: Token) =>
    `${model.tokens.indexOf(token)} (${token.issuedBy}, ${token.level})`

  const check = (token: Token, expected: Expected, answer: HttpAnswer) => {
    const what = `seed ${seed}: ${history.join('; ')}`
    const code = answer.body.error_code
    if (expected.outcome === 'ended') return assert.equal(code, 'refresh_token_not_found', what)
    if (expected.outcome === 'ends') {
      assert.equal(code, 'refresh_token_already_used', what)
      model.isEnded = true
      return
    }
    assert.equal(answer.status, 200, `${what}: ${JSON.stringify(answer.body)}`)
    const { refresh_token: text, access_token: next } = answer.body
    const { aal } = claimsOf(next)
    if (token.level === 'aal1') assert.equal(aal, 'aal1', `${what}: aal1 must never give aal2`)
    if (expected.outcome === 'new') {
      assert.ok(!model.tokens.some((known) => known.text === text), `${what}: a new token`)
      assert.equal(aal, token.level, what)
      model.rotate(text, clock.now())
    } else {
      assert.equal(text, expected.token.text, what)
      assert.equal(aal, expected.level, what)
    }
    access = next
  }

  const actions: Readonly<Record<string, () => Promise<void>>> = {
    async refresh() {
      // Mostly recent tokens: the client lost a response, or another tab has an older state.
      const recent = model.tokens.slice(-3)
      const token = random() < 0.5 ? model.current : pick(random, recent)
      history.push(`refresh ${label(token)}`)
      const expected = model.expect(token, clock.now())
      check(token, expected, await calls.refresh(token.text))
    },
    async 'refresh in several tabs'() {
      const token = pick(random, model.tokens.slice(-2))
      history.push(`refresh ${label(token)} in three tabs`)
      const expected = model.expect(token, clock.now())
      const answers = await Promise.all([1, 2, 3].map(() => calls.refresh(token.text)))
      if (expected.outcome === 'ends' || expected.outcome === 'ended') {
        assert.ok(answers.every(({ status }) => status === 400))
        model.isEnded = true
        return
      }
      const [one] = answers as [HttpAnswer, ...HttpAnswer[]]
      const texts = new Set(answers.map(({ body }) => body.refresh_token))
      assert.equal(texts.size, 1, `seed ${seed}: ${history.join('; ')}: all tabs get one token`)
      check(token, expected, one)
    },
    async wait() {
      const waitMs = pick(random, [0, 4 * second, 11 * second, hour, 72 * hour])
      history.push(`wait ${waitMs / second} s`)
      clock.aheadMs += waitMs
    },
    async verify() {
      if (model.isEnded) return
      history.push('verify')
      const answer = await calls.answer({ token: access }, member.factorId, member.app.nextCode())
      assert.equal(answer.status, 200, `seed ${seed}: ${JSON.stringify(answer.body)}`)
      model.raise(answer.body.refresh_token, clock.now())
      // The client may lose this response and go on with its old access token.
      if (random() < 0.5) access = answer.body.access_token
    },
  }
  const names = [
    'refresh',
    'refresh',
    'refresh',
    'refresh in several tabs',
    'wait',
    'wait',
    'verify',
  ]
  for (let step = 0; step < 14; step += 1) await actions[pick(random, names)]?.()
  return {
    isEnded: model.isEnded,
    hasRaised: model.tokens.some(({ issuedBy }) => issuedBy === 'raise'),
  }
}

const environment = {
  ...factorEnvironment,
  AUTH_COMPAT_MODE: 'upstream',
  // Access tokens outlive the waits of the test.
  AUTH_JWT_EXP: '1000000000',
  AUTH_RATE_LIMIT_PASSWORD: 'off',
}

for (const hasGrace of [true, false]) {
  test(`refreshes follow the model ${hasGrace ? 'with' : 'without'} the grace for lost responses`, async (t) => {
    const server = await openFlowServer(t, {
      ...environment,
      AUTH_SECURITY_REFRESH_TOKEN_PARENT_GRACE: `${hasGrace}`,
    })
    if (!server) return
    const calls = createFactorCalls(server)
    const outcomes = []
    for (let seed = 1; seed <= 40; seed += 1) {
      const member = await calls.newMember()
      outcomes.push(await playSession({ server, calls, member, hasGrace }, seed))
    }
    // The random sequences must include ended, continued and raised sessions.
    assert.ok(outcomes.filter(({ isEnded }) => isEnded).length > 3)
    assert.ok(outcomes.filter(({ isEnded }) => !isEnded).length > 3)
    assert.ok(outcomes.filter(({ hasRaised }) => hasRaised).length > 15)
  })
}

/**
 * A site that renders on the server: each page sends several requests with the same cookie, each of
 * which may refresh the session, and the browser keeps the cookie of any response.
 */
test('parallel requests, lost and late responses never sign a user out', async (t) => {
  const server = await openFlowServer(t, environment)
  if (!server) return
  const { clock } = server
  const calls = createFactorCalls(server)
  for (let seed = 1; seed <= 15; seed += 1) {
    const random = createRandom(seed)
    const member = await calls.newMember()
    const first = await calls.signIn(member.email)
    let cookie = first.refreshToken
    let { token } = first
    let late: string | undefined
    for (let page = 0; page < 12; page += 1) {
      const count = 1 + Math.floor(random() * 4)
      const shown = cookie
      const verifies = random() < 0.3
      const requests = Array.from(
        { length: count },
        (_, at) => () =>
          verifies && at === 0
            ? calls.answer({ token }, member.factorId, member.app.nextCode())
            : calls.refresh(shown),
      )
      const answers =
        random() < 0.5
          ? await Promise.all(requests.map((send) => send()))
          : await requests.reduce<Promise<HttpAnswer[]>>(
              async (before, send) => [...(await before), await send()],
              Promise.resolve([]),
            )
      for (const { status, body } of answers) {
        assert.equal(status, 200, `seed ${seed}, page ${page}: ${JSON.stringify(body)}`)
      }
      const given = answers.map(({ body }) => body.refresh_token as string)
      token = answers.at(-1)?.body.access_token
      // The browser keeps one of the cookies, none of them, or one of the page before.
      const candidates = [...given, shown, ...(late === undefined ? [] : [late])]
      cookie = pick(random, candidates)
      // A verification issues tokens of two levels, of which the lower one is not valid for long.
      late = verifies ? undefined : given.at(-1)
      clock.aheadMs += pick(random, [0, 11 * second, hour, 72 * hour])
    }
    const last = await send(server.url, '/user', { token })
    assert.equal(last.status, 200)
  }
})

for (const mode of ['specification', 'upstream']) {
  test(`a token of aal1 never gives aal2, even if reuse is allowed, in the mode ${mode}`, async (t) => {
    const server = await openFlowServer(t, {
      ...environment,
      AUTH_COMPAT_MODE: mode,
      AUTH_SECURITY_REFRESH_TOKEN_ALLOW_REUSE: 'true',
    })
    if (!server) return
    const calls = createFactorCalls(server)
    const member = await calls.newMember()
    const { token, refreshToken: before } = await calls.signIn(member.email)
    const raised = await calls.answer({ token }, member.factorId, member.app.nextCode())
    const reused = await calls.refresh(before)
    // In the mode upstream, the client may have lost the response of the verification.
    if (mode === 'upstream') assert.equal(claimsOf(reused.body.access_token).aal, 'aal1')
    else assert.equal(reused.body.error_code, 'refresh_token_already_used')
    const current = await calls.refresh(raised.body.refresh_token)
    assert.equal(claimsOf(current.body.access_token).aal, 'aal2', 'the session continues')
    const again = await calls.refresh(raised.body.refresh_token)
    assert.equal(again.body.refresh_token, current.body.refresh_token)
    assert.equal((await calls.refresh(before)).body.error_code, 'refresh_token_already_used')
  })
}

test('a lost response of a verification continues at aal1, until the token of the verification is used', async (t) => {
  const server = await openFlowServer(t, environment)
  if (!server) return
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const { token, refreshToken: before } = await calls.signIn(member.email)
  const raised = await calls.answer({ token }, member.factorId, member.app.nextCode())
  assert.equal(claimsOf(raised.body.access_token).aal, 'aal2')
  server.clock.aheadMs += 72 * hour

  const { body: kept } = await calls.refresh(before)
  assert.equal(kept.refresh_token, before)
  const claims = claimsOf(kept.access_token)
  assert.equal(claims.aal, 'aal1')
  assert.deepEqual(
    claims.amr.map(({ method }: { method: string }) => method),
    ['otp'],
  )
  const [session] = await server.query('select * from sessions where id = $1', [claims.session_id])
  assert.ok(Math.abs(Date.parse(session.refreshed_at) - server.clock.now()) < hour, 'is recorded')
  assert.equal(session.aal, 'aal2', 'the other client keeps its level')

  // The user verifies again, without another rotation, and then uses that token.
  const again = await calls.answer(
    { token: kept.access_token },
    member.factorId,
    member.app.nextCode(),
  )
  assert.equal(again.body.refresh_token, raised.body.refresh_token)
  const used = await calls.refresh(again.body.refresh_token)
  assert.equal(claimsOf(used.body.access_token).aal, 'aal2')
  assert.equal((await calls.refresh(before)).body.error_code, 'refresh_token_already_used')
  assert.equal(
    (await calls.refresh(used.body.refresh_token)).body.error_code,
    'refresh_token_not_found',
  )
})

test('the limit for sessions without their second factor also applies after a lost verification', async (t) => {
  const server = await openFlowServer(t, { ...environment, AUTH_SESSIONS_ALLOW_LOW_AAL: '1h' })
  if (!server) return
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const { token, refreshToken } = await calls.signIn(member.email)
  await calls.answer({ token }, member.factorId, member.app.nextCode())
  server.clock.aheadMs += 2 * hour
  const { body } = await calls.refresh(refreshToken)
  assert.equal(body.error_code, 'session_expired')
})

test('the version header does not extend the time in which a replaced token is accepted', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const { refreshToken } = await calls.signIn(member.email)
  await calls.refresh(refreshToken)
  server.clock.aheadMs += 11 * second
  const answer = await server.post(
    '/token?grant_type=refresh_token',
    { refresh_token: refreshToken },
    { 'x-supabase-api-version': '2024-01-01' },
  )
  assert.equal(answer.body.code, 'refresh_token_already_used')
})

test('every second factor is recognised by its method', () => {
  for (const method of Object.values(methodsByType)) assert.ok(isSecondFactor(method), method)
  for (const method of ['password', 'otp', 'oauth', 'magiclink', 'anonymous', 'passkey']) {
    assert.ok(!isSecondFactor(method), method)
  }
})
