import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Statement } from '../../../src/db/statement.ts'
import { ApiError } from '../../../src/errors.ts'
import { noSignInLog } from '../../../src/features/audit/sign-in-log.ts'
import type {
  VerdictRow,
  Verification,
} from '../../../src/features/one-time-codes/statements/verify.ts'
import {
  type EmailVerificationType,
  type PhoneVerificationType,
  type Proof,
  type VerifyInput,
  verifyEmail,
  verifyPhone,
} from '../../../src/features/one-time-codes/verify.ts'
import type { Services } from '../../../src/services.ts'

const client = { ip: '203.0.113.1', userAgent: 'test', tag: undefined }
const link: Proof = { how: 'link', token: 'abc' }
const digits = { how: 'digits', digits: '123456', recipient: 'ada', audience: 'all' } as const

const accepted: VerdictRow = {
  verdict: 'whole',
  owner_id: 'user',
  token_type: 'confirmation',
  consumed_type: 'confirmation',
  auth_code: null,
  session_id: 'session',
}

/** Services with a database that accepts every token, and the statements it received. */
function openServices(row: Partial<VerdictRow> = {}, { hasNotices = false } = {}) {
  const executed: { readonly statement: Statement; readonly values: Verification }[] = []
  const woken = { count: 0 }
  const notification = { isEnabled: hasNotices }
  const services = {
    config: {
      api: { externalUrl: 'https://auth.example' },
      site: { url: 'https://example.com' },
      mail: {
        secureEmailChange: true,
        autoconfirm: false,
        authorizedAddresses: [],
        notifications: {
          email_changed_notification: notification,
          phone_changed_notification: notification,
        },
      },
    },
    db: {
      async run(statement: Statement, values: Verification) {
        executed.push({ statement, values })
        return [{ ...accepted, ...row }]
      },
    },
    passwords: { createUnusable: () => 'unusable', hash: async () => 'hashed' },
    cooldownKeys: { toKey: () => 'key' },
    oneTimeTokens: {
      hashLink: (token: string) => Buffer.from(`link ${token}`),
      findHashes: (text: string, recipient: string) => [
        Buffer.from(`${text} ${recipient}`).toString('hex'),
      ],
    },
    sessions: { toTokenResponse: async () => ({ access_token: 'token' }) },
    wakeMessages: () => {
      woken.count += 1
    },
    signInLog: noSignInLog,
    now: () => 5_900,
    // The code under test uses no other services.
  } as unknown as Services
  return { services, executed, woken }
}

async function verify(type: EmailVerificationType, changed: Partial<VerifyInput> = {}) {
  const opened = openServices()
  const plain = { wantsCode: false, requiresPassword: false, password: undefined }
  await verifyEmail(opened.services, { type, proof: link, client, ...plain, ...changed })
  const [first] = opened.executed
  assert.ok(first)
  return first.values
}

const hex = (text: string) => Buffer.from(text).toString('hex')

test('a session is opened when tokens are returned, but not when a code is returned', async () => {
  const { session } = await verify('signup')
  assert.ok(session)
  assert.deepEqual(session.amr, [{ method: 'otp', timestamp: 5 }])
  assert.equal((await verify('signup', { wantsCode: true })).session, null)
})

test('only a recovery opens a session that may set a new password', async () => {
  assert.equal((await verify('recovery')).session?.is_recovery, true)
  for (const type of ['signup', 'invite', 'magiclink', 'email'] as const) {
    assert.equal((await verify(type)).session?.is_recovery, false)
  }
})

test('the audit log distinguishes sign-ups, sign-ins and account changes', async () => {
  const signedUp = { action: 'user_signedup', log_type: 'team' }
  const modified = { action: 'user_modified', log_type: 'user' }
  const auditOf = async (type: EmailVerificationType, changed?: Partial<VerifyInput>) => {
    const { first, later } = (await verify(type, changed)).audit
    return { first, later }
  }
  const login = { action: 'login', log_type: 'account' }
  assert.deepEqual(await auditOf('signup'), { first: signedUp, later: login })
  assert.deepEqual(await auditOf('signup', { wantsCode: true }), { first: signedUp, later: null })
  assert.deepEqual(await auditOf('email_change'), { first: modified, later: modified })
})

test('a link is looked up by its hash, a code by its hash and recipient', async () => {
  const none = { otp_hashes: null, relates_to: null, aud: null }
  const pick = ({ token_hash, is_pkce, otp_hashes, relates_to, aud }: Verification) => ({
    ...{ token_hash, is_pkce, otp_hashes, relates_to, aud },
  })
  assert.deepEqual(pick(await verify('signup')), {
    ...none,
    token_hash: hex('link abc'),
    is_pkce: false,
  })
  const pkce = await verify('signup', { proof: { how: 'link', token: 'pkce_abc' } })
  assert.deepEqual(pick(pkce), { ...none, token_hash: hex('link pkce_abc'), is_pkce: true })
  assert.deepEqual(pick(await verify('signup', { proof: digits })), {
    token_hash: null,
    is_pkce: false,
    otp_hashes: [hex('123456 ada')],
    relates_to: 'ada',
    aud: 'all',
  })
})

test('the statement gets whether a password is required and whether the request has one', async () => {
  const pick = ({ needs_password, offers_password }: Verification) => [
    needs_password,
    offers_password,
  ]
  assert.deepEqual(pick(await verify('signup')), [false, false])
  assert.deepEqual(pick(await verify('signup', { requiresPassword: true })), [true, false])
  assert.deepEqual(pick(await verify('signup', { password: 'secret' })), [true, true])
})

test('each verification type accepts its own token types, with their PKCE method names', async () => {
  const methodsOf = async (type: EmailVerificationType) => (await verify(type)).methods
  assert.deepEqual(await methodsOf('signup'), { confirmation: 'email/signup' })
  assert.deepEqual(await methodsOf('invite'), { confirmation: 'invite' })
  assert.deepEqual(await methodsOf('recovery'), { recovery: 'recovery' })
  assert.deepEqual(await methodsOf('magiclink'), { recovery: 'magiclink' })
  assert.deepEqual(await methodsOf('email'), {
    confirmation: 'email/signup',
    recovery: 'magiclink',
  })
  assert.deepEqual(await methodsOf('email_change'), {
    email_change_current: 'email_change',
    email_change_new: 'email_change',
  })
})

test('the response names the type of the token, not the type in the request', async () => {
  const plain = { wantsCode: false, requiresPassword: false, password: undefined }
  const typeOf = async (type: EmailVerificationType, tokenType: string) => {
    const { services } = openServices({ token_type: tokenType })
    const verified = await verifyEmail(services, { type, proof: link, client, ...plain })
    return verified.outcome === 'tokens' ? verified.type : verified.outcome
  }
  assert.equal(await typeOf('email', 'confirmation'), 'signup')
  assert.equal(await typeOf('email', 'recovery'), 'magiclink')
  assert.equal(await typeOf('recovery', 'recovery'), 'recovery')
})

test('a code, a half-confirmed change and an already used token have different results', async () => {
  const plain = { wantsCode: false, requiresPassword: false, password: undefined }
  const run = (row: Partial<VerdictRow>) =>
    verifyEmail(openServices(row).services, { type: 'signup', proof: link, client, ...plain })
  assert.deepEqual(await run({ auth_code: 'code' }), { outcome: 'code', code: 'code' })
  assert.deepEqual(await run({ verdict: 'half' }), { outcome: 'half' })
  await assert.rejects(run({ consumed_type: null }), (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.message, 'Email link is invalid or has expired')
    return true
  })
})

test('a phone number is confirmed or changed with tokens, never with a code or a password', async () => {
  const run = async (type: PhoneVerificationType) => {
    const { services, executed, woken } = openServices({}, { hasNotices: true })
    await verifyPhone(services, { type, proof: digits, client })
    const { methods, session, audit, offers_password } = executed[0]?.values ?? assert.fail()
    const actions = [audit.first?.action, audit.later?.action]
    return { methods, hasSession: session !== null, offers_password, actions, woken: woken.count }
  }
  assert.deepEqual(await run('sms'), {
    methods: { phone_confirmation: 'sms' },
    hasSession: true,
    offers_password: false,
    actions: ['user_signedup', 'login'],
    woken: 0,
  })
  assert.deepEqual(await run('phone_change'), {
    methods: { phone_change: 'phone_change' },
    hasSession: true,
    offers_password: false,
    actions: ['user_modified', 'user_modified'],
    woken: 1,
  })
})
