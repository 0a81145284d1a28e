import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/db/database.ts'
import type { Statement } from '../../../src/db/statement.ts'
import { ApiError } from '../../../src/errors.ts'
import { createRefreshTokens } from '../../../src/features/sessions/refresh-tokens.ts'
import {
  createSessions,
  type SessionParts,
  type SessionSettings,
} from '../../../src/features/sessions/sessions.ts'
import { rotateSession } from '../../../src/features/sessions/statements/rotation.ts'
import { endSession } from '../../../src/features/sessions/statements/session-list.ts'
import { findRefresh, type RefreshRow } from '../../../src/features/sessions/statements/sessions.ts'
import { createKeyRing } from '../../../src/tokens/key-ring.ts'
import { createdAt, factor, user } from '../../support/example-user.ts'

const sessionId = '7d1f6c2e-0000-4000-8000-000000000003'
const created = Date.parse(createdAt)
const minute = 60_000
const client = { ip: '203.0.113.1', userAgent: 'test' }
const refreshTokens = createRefreshTokens(createKeyRing(Buffer.alloc(32, 1)))

const settings: SessionSettings = {
  expiresInSeconds: 3_600,
  issuer: undefined,
  clientIssuer: 'https://auth.example',
  timeboxMs: undefined,
  inactivityMs: undefined,
  lowAalMs: undefined,
  singlePerUser: false,
  tags: [],
  reuseIntervalMs: 10_000,
  rotates: true,
  parentGrace: false,
}

const session: RefreshRow = {
  ...user,
  session_id: sessionId,
  aal: 'aal1',
  amr: [],
  refresh_token_counter: 5,
  session_created_at: createdAt,
  delivered_counter: 5,
  delivered_at: createdAt,
  raised_from: null,
  revoked_at: null,
  not_after: null,
  refreshed_at: null,
  has_newer: false,
  oauth_client_id: null,
  oauth_grant: null,
}

interface Refresh {
  readonly settings?: Partial<SessionSettings>
  readonly row?: Partial<RefreshRow>
  readonly afterMs?: number
  readonly counter?: number
  readonly customize?: SessionParts['customize']
}

/** Refreshes a session whose token was not accepted by the statement for the usual case. */
async function refresh({ settings: changed, row, afterMs = 0, counter = 5, customize }: Refresh) {
  const statements: Statement[] = []
  const db: Database = {
    async run(statement: Statement) {
      statements.push(statement)
      // The row has the columns that this statement returns.
      return statement === findRefresh ? ([{ ...session, ...row }] as never) : []
    },
    transaction: () => assert.fail('no transaction is needed'),
    pool: { total: 0, idle: 0, waiting: 0 } as never,
    async [Symbol.asyncDispose]() {},
  }
  const sessions = createSessions({
    db,
    signer: { sign: () => 'signed', verify: () => assert.fail('no token should be verified') },
    refreshTokens,
    settings: { ...settings, ...changed },
    customize,
    tokenSize: { mostBytes: 12_288, onOmitted: () => assert.fail('no claim should be omitted') },
    deliveries: { mark() {}, async settled() {} },
    now: () => created + afterMs,
  })
  const text = refreshTokens.encode({ sessionId, counter })
  const outcome = await sessions.refresh(text, client).then(
    ({ response }) => response['refresh_token'],
    (error: unknown) => {
      assert.ok(error instanceof ApiError)
      return error.message.replace('Invalid Refresh Token: ', '')
    },
  )
  assert.deepEqual(statements.filter((each) => each === rotateSession).length, 1)
  return { outcome, hasEnded: statements.includes(endSession) }
}

const present = refreshTokens.encode({ sessionId, counter: 5 })

test('with AUTH_SECURITY_REFRESH_TOKEN_ALLOW_REUSE every earlier token returns the current one', async () => {
  for (const counter of [4, 3, 0]) {
    const given = { counter, afterMs: 60 * minute, settings: { allowsReuse: true } }
    assert.deepEqual(await refresh(given), { outcome: present, hasEnded: false })
  }
  const unknown = await refresh({ counter: 6, settings: { allowsReuse: true } })
  assert.deepEqual(unknown, { outcome: 'Not Issued By This Server', hasEnded: false })
  const ended = { counter: 4, row: { revoked_at: createdAt }, settings: { allowsReuse: true } }
  assert.equal((await refresh(ended)).outcome, 'No Valid Session Found')
})
const used = 'Already Used'
const at = (ms: number) => new Date(created + ms).toISOString()

/** Each limit is the last moment at which the session is still valid. */
const limits: Readonly<Record<string, Refresh & { message: string }>> = {
  'the maximum session duration': {
    settings: { timeboxMs: minute },
    row: { refreshed_at: at(minute) },
    message: 'Session Expired',
  },
  'the end set by an administrator': {
    row: { not_after: at(minute) },
    message: 'Session Expired',
  },
  'inactivity since the sign-in': {
    settings: { inactivityMs: minute },
    message: 'Session Expired (Inactivity)',
  },
  'the time allowed without a second factor': {
    settings: { lowAalMs: minute },
    row: { factors: [factor] },
    message: 'Session Expired (Low AAL: User Needs MFA Verification)',
  },
}

for (const [name, { message, ...given }] of Object.entries(limits)) {
  test(`a session is refused as soon as it is beyond ${name}`, async () => {
    assert.equal((await refresh({ ...given, afterMs: minute })).outcome, used)
    assert.equal((await refresh({ ...given, afterMs: minute + 1 })).outcome, message)
  })
}

test('every refresh restarts the inactivity timeout', async () => {
  const given = { settings: { inactivityMs: minute }, row: { refreshed_at: at(5 * minute) } }
  assert.equal((await refresh({ ...given, afterMs: 6 * minute })).outcome, used)
  const { outcome } = await refresh({ ...given, afterMs: 6 * minute + 1 })
  assert.equal(outcome, 'Session Expired (Inactivity)')
})

test('the time limit without a second factor applies only to users who have one and have not verified it', async () => {
  const given = { settings: { lowAalMs: minute }, afterMs: 2 * minute }
  assert.equal((await refresh({ ...given, row: { factors: [] } })).outcome, used)
  assert.equal((await refresh({ ...given, row: { factors: [factor], aal: 'aal2' } })).outcome, used)
})

test('a session that was revoked, replaced or whose user is banned is refused for any token', async () => {
  const outcomeOf = async (row: Partial<RefreshRow>) => (await refresh({ row })).outcome
  assert.equal(await outcomeOf({ revoked_at: createdAt }), 'No Valid Session Found')
  assert.equal(await outcomeOf({ deleted_at: createdAt }), 'No Valid Session Found')
  assert.equal(await outcomeOf({ banned_until: at(1) }), 'User Banned')
  assert.equal(await outcomeOf({ banned_until: at(0) }), used)
  assert.equal(await outcomeOf({ has_newer: true }), 'Session Expired (Revoked by Newer Login)')
})

test('the previous token returns the current one until the reuse interval ends, to the millisecond', async () => {
  const given = { row: { delivered_at: at(0) }, counter: 4 }
  assert.deepEqual(await refresh({ ...given, afterMs: 10_000 }), {
    outcome: present,
    hasEnded: false,
  })
  assert.deepEqual(await refresh({ ...given, afterMs: 10_001 }), { outcome: used, hasEnded: true })
})

test('the previous token returns the current one at any age while the current one is not known to be delivered', async () => {
  const given = { counter: 4, afterMs: 600 * minute }
  const kept = { outcome: present, hasEnded: false }
  assert.deepEqual(await refresh({ ...given, row: { delivered_counter: 4 } }), kept)
  assert.deepEqual(
    await refresh({ ...given, row: { delivered_counter: -1, delivered_at: null } }),
    kept,
  )
  assert.deepEqual(await refresh({ ...given, settings: { parentGrace: true } }), kept)
  const older = { ...given, counter: 3 }
  const ended = { outcome: used, hasEnded: true }
  assert.deepEqual(await refresh({ ...older, row: { delivered_counter: -1 } }), ended)
  assert.deepEqual(await refresh({ ...older, settings: { parentGrace: true } }), ended)
})

test('a token older than the previous one ends the session, unless rotation is disabled', async () => {
  const given = { row: { delivered_at: at(0) }, counter: 3 }
  assert.deepEqual(await refresh(given), { outcome: used, hasEnded: true })
  assert.deepEqual(await refresh({ ...given, settings: { rotates: false } }), {
    outcome: used,
    hasEnded: false,
  })
})

test('a token that was not issued yet is refused, and the session stays', async () => {
  assert.deepEqual(await refresh({ counter: 6 }), {
    outcome: 'Not Issued By This Server',
    hasEnded: false,
  })
})

test('the access token hook is called only for a token that is about to be accepted', async () => {
  let calls = 0
  const given: Refresh = {
    async customize({ claims }) {
      calls += 1
      return claims
    },
  }
  await refresh({ ...given, counter: 3 })
  await refresh({ ...given, row: { revoked_at: createdAt } })
  await refresh({ ...given, row: { revoked_at: createdAt }, counter: 3 })
  assert.equal(calls, 0)
  await refresh(given)
  assert.equal(calls, 1)
})
