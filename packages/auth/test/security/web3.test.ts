/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, send } from '../support/http-client.ts'
import {
  createEthereumWallet,
  createSolanaWallet,
  type MessageParts,
  type TestWallet,
  writeMessage,
} from '../support/wallets.ts'

const path = '/token?grant_type=web3'
const newNonce = () => randomBytes(8).toString('hex')
const reasonOf = ({ status, body }: HttpAnswer) => [
  status,
  body.error ?? body.error_code,
  body.error_description ?? body.msg,
]

test('sign-in with a wallet', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTH_RATE_LIMIT_WEB3: '1000000',
    AUTH_URI_ALLOW_LIST: 'https://app.example/**,http://localhost:3000/**',
  })
  if (!server) return
  const ethereum = createEthereumWallet()
  const solana = createSolanaWallet()
  const wallets: readonly TestWallet[] = [ethereum, solana]
  const write = (wallet: TestWallet, parts?: MessageParts) =>
    writeMessage(wallet, server.clock.now(), { nonce: newNonce(), ...parts })
  const post = ({ chain }: TestWallet, message: string, signature: string) =>
    server.post(path, { chain, message, signature })
  const signIn = (wallet: TestWallet, parts?: MessageParts) => {
    const message = write(wallet, parts)
    return post(wallet, message, wallet.sign(message))
  }
  /** A valid signature of a message that must be refused. */
  const refusalOf = async (wallet: TestWallet, message: string) =>
    reasonOf(await post(wallet, message, wallet.sign(message)))
  const invalidGrant = (reason: string) => [400, 'invalid_grant', reason]

  await t.test('creates a user without an address, who is found again', async () => {
    for (const wallet of wallets) {
      const first = await signIn(wallet)
      assert.equal(first.status, 200, JSON.stringify(first.body))
      const { user } = first.body
      assert.deepEqual(user.app_metadata, { provider: 'web3', providers: ['web3'] })
      assert.equal(user.email ?? '', '')
      const [identity] = user.identities
      const sub = `web3:${wallet.chain}:${wallet.address}`
      assert.deepEqual([identity.provider, identity.identity_data.sub], ['web3', sub])
      assert.deepEqual(identity.identity_data.custom_claims, {
        address: wallet.address,
        chain: wallet.chain,
        network: wallet.chain === 'ethereum' ? '1' : 'solana:mainnet',
        domain: 'site.example',
        statement: 'Sign in to the example',
      })
      assert.equal((await signIn(wallet)).body.user.id, user.id)
      assert.deepEqual(await server.actionsOf(user.id), ['user_signedup', 'login', 'login'])
    }
  })

  await t.test('an address with a checksum is the same account', async () => {
    const { body } = await signIn(ethereum)
    const again = await signIn(ethereum, { address: ethereum.checksummed })
    assert.equal(again.body.user.id, body.user.id)
  })

  await t.test('an account that was imported with a checksummed address is found', async () => {
    const wallet = createEthereumWallet()
    const { body } = await signIn(wallet)
    await server.query('update identities set provider_id = $2 where provider_id = $1', [
      `web3:ethereum:${wallet.address}`,
      `web3:ethereum:${wallet.checksummed}`,
    ])
    assert.equal((await signIn(wallet)).body.user.id, body.user.id)
  })

  await t.test('a message signs in once (property 80)', async () => {
    for (const wallet of wallets) {
      for (const nonce of [newNonce(), undefined]) {
        const message = write(wallet, { nonce, uri: `https://site.example/${newNonce()}` })
        const signature = wallet.sign(message)
        assert.equal((await post(wallet, message, signature)).status, 200)
        const replayed = await post(wallet, message, signature)
        assert.deepEqual(
          reasonOf(replayed),
          invalidGrant('Message was already used to sign in'),
          wallet.chain,
        )
      }
    }
  })

  await t.test('concurrent requests with one message sign in once (property 80)', async () => {
    const message = write(ethereum)
    const signature = ethereum.sign(message)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(ethereum, message, signature)),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  })

  await t.test('a nonce is used once per wallet (property 80)', async () => {
    const nonce = newNonce()
    assert.equal((await signIn(ethereum, { nonce })).status, 200)
    const refused = await signIn(ethereum, { nonce, statement: 'Sign in once more' })
    assert.equal(refused.body.error_description, 'Message was already used to sign in')
    assert.equal((await signIn(createEthereumWallet(), { nonce })).status, 200)
  })

  await t.test('only the owner of the address can sign (property 80)', async () => {
    const reason = invalidGrant('Signature does not match address in message')
    for (const [wallet, other] of [
      [ethereum, createEthereumWallet()],
      [solana, createSolanaWallet()],
    ] as const) {
      const message = write(wallet)
      assert.deepEqual(reasonOf(await post(wallet, message, other.sign(message))), reason)
      const changed = message.replace('Sign in', 'Log in')
      assert.deepEqual(reasonOf(await post(wallet, changed, wallet.sign(message))), reason)
    }
  })

  await t.test('malleable and degenerate signatures are refused (property 80)', async () => {
    const reason = invalidGrant('Signature does not match address in message')
    const message = write(ethereum)
    const signatures = [
      ethereum.signMalleably(message),
      `0x${'00'.repeat(64)}1b`,
      `0x${'ff'.repeat(64)}1c`,
      ethereum.sign(message).replace(/..$/, '1d'),
      ethereum.sign(message).replace(/..$/, 'ff'),
    ]
    for (const signature of signatures) {
      assert.deepEqual(reasonOf(await post(ethereum, message, signature)), reason, signature)
    }
    // The key of 32 zero bytes has order 4, so that the signature of the neutral point fits often.
    const neutral = { ...solana, address: '1'.repeat(32) }
    const signature = Buffer.concat([Buffer.of(1), Buffer.alloc(63)]).toString('base64url')
    for (let tries = 0; tries < 8; tries += 1) {
      assert.deepEqual(reasonOf(await post(neutral, write(neutral), signature)), reason)
    }
    for (const signature of ['', '0x', 'ab'.repeat(64), `0x${'zz'.repeat(65)}`]) {
      const answer = await post(ethereum, message, signature)
      assert.deepEqual(errorOf(answer).slice(0, 2), [400, 'validation_failed'], signature)
    }
  })

  await t.test('a Ledger device can sign for Solana', async () => {
    const message = write(solana)
    const signed = await post(solana, message, solana.signOffChain(message, 'site.example'))
    assert.equal(signed.status, 200, JSON.stringify(signed.body))
    const other = write(solana)
    const refused = await post(solana, other, solana.signOffChain(other, 'evil.example'))
    assert.equal(refused.body.error, 'invalid_grant')
  })

  await t.test('a message for another site is refused (property 80)', async () => {
    const header = (domain: string) => `${domain} wants you to sign in with your Ethereum account:`
    const notAllowed = 'Signed Ethereum message was signed for another site: its URI is not allowed'
    const mismatch = 'Signed Ethereum message is using a domain that does not match its URI'
    const cases: readonly (readonly [domain: string, uri: string, reason: string])[] = [
      ['evil.example', 'https://evil.example/', notAllowed],
      ['evil.example', 'https://site.example/', mismatch],
      ['site.example', 'https://app.example/', mismatch],
      ['site.example:8443', 'https://site.example/', mismatch],
      ['localhost:3001', 'http://localhost:3000/', mismatch],
      ['site.example', 'https://site.example@evil.example/', notAllowed],
      [
        'site.example',
        'http://site.example/',
        'Signed Ethereum message is using URI which does not use HTTPS',
      ],
    ]
    for (const [domain, uri, reason] of cases) {
      const refused = await refusalOf(ethereum, write(ethereum, { header: header(domain), uri }))
      assert.deepEqual(refused, invalidGrant(reason), `${domain} ${uri}`)
    }
    for (const [domain, uri] of [
      ['app.example', 'https://app.example/welcome?a=b#c'],
      ['https://app.example', 'https://app.example/'],
      ['SITE.example:443', 'https://site.example'],
      ['localhost:3000', 'http://localhost:3000/'],
    ] as const) {
      const allowed = await signIn(ethereum, { header: header(domain), uri })
      assert.equal(allowed.status, 200, `${domain} ${JSON.stringify(allowed.body)}`)
    }
  })

  await t.test('the times in a message are honoured (property 80)', async () => {
    const at = (seconds: number) => new Date(server.clock.now() + seconds * 1_000).toISOString()
    const cases: readonly (readonly [parts: MessageParts, reason: string])[] = [
      [{ issuedAt: at(-601) }, 'Message was issued too long ago'],
      [{ issuedAt: at(601) }, 'Message was issued too far in the future'],
      [{ more: [`Expiration Time: ${at(-1)}`] }, 'Signed message is expired'],
      [{ more: [`Not Before: ${at(1)}`] }, 'Signed message becomes valid in the future'],
    ]
    for (const wallet of wallets) {
      for (const [parts, reason] of cases) {
        assert.deepEqual(await refusalOf(wallet, write(wallet, parts)), invalidGrant(reason))
      }
      const more = [`Expiration Time: ${at(60)}`, `Not Before: ${at(-60)}`]
      assert.equal((await signIn(wallet, { issuedAt: at(-590), more })).status, 200)
    }
  })

  await t.test('nothing in a message is ignored or misread (property 80)', async () => {
    const upper = `0x${ethereum.address.slice(2).toUpperCase()}`
    const wrongCase = ethereum.checksummed.replace(/[a-fA-F]/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const cases: Readonly<Record<string, string>> = {
      'an unknown field': write(ethereum, { more: ['Fee: none'] }),
      'an empty line at the end': write(ethereum, { more: [''] }),
      'text after the resources': write(ethereum, { more: ['Resources:', '- https://a.b', 'x'] }),
      'a resource without a scheme': write(ethereum, { more: ['Resources:', '- no URI'] }),
      'a repeated field': write(ethereum, { more: [`Issued At: ${new Date().toISOString()}`] }),
      'a field in the wrong place': write(ethereum, {
        more: ['Nonce: 12345678'],
        nonce: undefined,
      }),
      'a second URI in the statement': write(ethereum, { statement: 'a\n\nURI: https://a.b' }),
      'two lines in the statement': write(ethereum, { statement: 'one\ntwo' }),
      'a carriage return': write(ethereum, { statement: 'a\rb' }),
      'a line separator': write(ethereum, { statement: 'a\u2028b' }),
      'text from right to left': write(ethereum, { statement: 'a\u202eb' }),
      'an invisible character': write(ethereum, { statement: 'a\u200bb' }),
      'a lone surrogate': write(ethereum, { statement: 'a\ud800b' }),
      'a homograph of the domain': write(ethereum, {
        header: 'sitе.example wants you to sign in with your Ethereum account:',
      }),
      'a user name in the domain': write(ethereum, {
        header: 'site.example@evil.example wants you to sign in with your Ethereum account:',
      }),
      'text before the domain': write(ethereum, {
        header: 'hi site.example wants you to sign in with your Ethereum account:',
      }),
      'another scheme': write(ethereum, {
        header: 'http://site.example wants you to sign in with your Ethereum account:',
      }),
      'the other chain': write(ethereum, {
        header: 'site.example wants you to sign in with your Solana account:',
      }),
      'another alphabet in the URI': write(ethereum, { uri: 'https://sitе.example/' }),
      'a space in the URI': write(ethereum, { uri: 'https://site.example/ a' }),
      'a backslash in the URI': write(ethereum, { uri: 'https://site.example\\@evil.example/' }),
      'a relative URI': write(ethereum, { uri: '/' }),
      'another version': write(ethereum, { version: '2' }),
      'no chain ID': write(ethereum, { chainId: undefined }),
      'a chain ID of 0': write(ethereum, { chainId: '0' }),
      'a chain ID in hexadecimal': write(ethereum, { chainId: '0x1' }),
      'a short nonce': write(ethereum, { nonce: '1234567' }),
      'a nonce with other characters': write(ethereum, { nonce: '12345678-' }),
      'a time without a zone': write(ethereum, { issuedAt: '2024-01-01T00:00:00' }),
      'a time that does not exist': write(ethereum, { issuedAt: '2024-13-01T00:00:00Z' }),
      'an address with a wrong checksum': write(ethereum, { address: wrongCase }),
      'an address with a space': write(ethereum, { address: `${ethereum.address} ` }),
      'a short address': write(ethereum, { address: ethereum.address.slice(0, -1) }),
    }
    for (const [what, message] of Object.entries(cases)) {
      const [status, code, reason] = await refusalOf(ethereum, message)
      assert.deepEqual([status, code], [400, 'validation_failed'], what)
      assert.match(`${reason}`, /^The message is invalid: /, what)
    }
    assert.equal((await signIn(ethereum, { address: upper })).status, 200, 'no checksum')
    assert.equal((await signIn(ethereum, { statement: 'Anmelden für Zürich — 登录' })).status, 200)
    const solanaCases = [
      { address: ethereum.address },
      // A leading 1 is a zero byte, so that the address has 33 bytes. A digit at the end could result in another key.
      { address: `1${solana.address}` },
      { address: solana.address.replace(/^./, '0') },
      { chainId: '1' },
    ]
    for (const parts of solanaCases) {
      const [, code] = await refusalOf(solana, write(solana, parts))
      assert.equal(code, 'validation_failed', JSON.stringify(parts))
    }
  })

  await t.test('too short and too long messages are refused', async () => {
    for (const [message, reason] of [
      ['short', 'message is too short'],
      [write(ethereum, { statement: 'a'.repeat(21_000) }), 'message must not exceed 20KB'],
    ] as const) {
      assert.equal((await post(ethereum, message, ethereum.sign(message))).body.msg, reason)
    }
    const unknown = await server.post(path, { chain: 'bitcoin', message: '', signature: '' })
    assert.deepEqual(errorOf(unknown), [400, 'web3_unsupported_chain', 'Unsupported chain'])
    assert.doesNotMatch(server.log.join(''), /level=error/)
  })
})

test('a disabled chain is refused, and sign-ins have their own limit', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTH_RATE_LIMIT_WEB3: '3',
  })
  if (!server) return
  const { body } = await send(server.url, '/settings')
  assert.deepEqual([body.web3_ethereum_enabled, body.web3_solana_enabled], [false, true])
  const request = { chain: 'ethereum', message: '', signature: '' }
  for (let tries = 0; tries < 3; tries += 1) {
    assert.deepEqual(errorOf(await server.post(path, request)), [
      422,
      'web3_provider_disabled',
      'Ethereum Web3 provider is disabled',
    ])
  }
  assert.equal((await server.post(path, request)).status, 429)
  const other = await server.post('/token?grant_type=refresh_token', { refresh_token: 'x' })
  assert.equal(other.status, 400, 'other grants have another limit')
})
