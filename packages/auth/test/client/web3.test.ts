/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EthereumWallet, SolanaWallet } from '@supabase/auth-js'
import { dataOf, errorOf, openClientServer } from '../support/auth-js.ts'
import { createEthereumWallet, createSolanaWallet } from '../support/wallets.ts'

test('the real client signs in with wallets', async (t) => {
  const server = await openClientServer(t, {
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
  })
  if (!server) return
  const ethereum = createEthereumWallet()
  const solana = createSolanaWallet()
  const statement = 'I accept the terms of the example'
  // The clock of the server is not the clock of the client.
  const now = () => new Date(server.clock.now())
  const signInWithEthereum = (url: string) =>
    server.createClient().signInWithWeb3({
      chain: 'ethereum',
      wallet: ethereum.browser as unknown as EthereumWallet,
      statement,
      options: { url, signInWithEthereum: { issuedAt: now(), chainId: 10, requestId: 'a-1' } },
    })
  const signInWithSolana = (url: string) =>
    server.createClient().signInWithWeb3({
      chain: 'solana',
      wallet: solana.browser as unknown as SolanaWallet,
      options: { url, signInWithSolana: { issuedAt: now().toISOString(), nonce: `${Date.now()}` } },
    })

  await t.test('with Ethereum and with Solana', async () => {
    const { user, session } = dataOf(await signInWithEthereum('https://site.example/login'))
    assert.equal(session.user.id, user.id)
    assert.equal(user.identities?.[0]?.id, `web3:ethereum:${ethereum.address}`)
    const other = dataOf(await signInWithSolana('https://site.example/login'))
    assert.equal(other.user.user_metadata['sub'], `web3:solana:${solana.address}`)
  })

  await t.test('and reports a refusal', async () => {
    for (const result of [
      await signInWithEthereum('https://evil.example/'),
      await signInWithSolana('https://evil.example/'),
    ]) {
      const [, status, message] = errorOf(result)
      assert.equal(status, 400)
      assert.match(`${message}`, /was signed for another site/)
    }
  })
})
