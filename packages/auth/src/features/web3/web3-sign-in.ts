import { createHash } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { ExternalProfile } from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { findOrCreateAccount } from '../external/external-accounts.ts'
import { isLoopback } from '../redirects/redirects.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { Chain, ChainName } from './chain.ts'
import { MessageError, parseSignedMessage, type SignedMessage } from './signed-message.ts'
import { claimWeb3Message } from './statements.ts'

/** Loaded when they are first used, because most servers have none, and their cryptography is large. */
const chains: Readonly<Record<ChainName, () => Promise<Chain>>> = {
  ethereum: async () => (await import('./ethereum.ts')).ethereum,
  solana: async () => (await import('./solana.ts')).solana,
}
/** Wallets have no email address. */
const provider = { id: 'web3', isEmailOptional: true } as const

interface Web3Request {
  readonly chain: string
  readonly message: string
  readonly signature: string
  readonly audience: string
  readonly client: Client
  readonly redirectTo: string
  readonly externalUrl: string
}

/** Handles the grant `web3`. @throws {ApiError} */
export async function signInByWallet(
  services: Services,
  request: Web3Request,
): Promise<TokenResponse> {
  const chain = await loadChain(services, request.chain)
  const { mostValidMs } = services.config.web3[chain.name]
  const message = readMessage(request, chain)
  checkSite(services, message, chain)
  checkTimes(message, services.now(), mostValidMs)
  const id = await claimMessage(services, message, chain, mostValidMs)
  const { audience, client, redirectTo, externalUrl } = request
  const profile = toProfile(id, message, chain)
  const user = await findOrCreateAccount(services, {
    provider,
    profile,
    audience,
    client,
    redirectTo,
    externalUrl,
  })
  return services.sessions.open({ user, method: 'web3', client })
}

/** @throws {ApiError} if wallets of no chain can sign in. */
export function requireWallets({ config: { web3 } }: Services): void {
  if (web3.ethereum.enabled || web3.solana.enabled) return
  throw new ApiError('web3_provider_disabled', 'Web3 provider is disabled')
}

async function loadChain({ config: { web3 } }: Services, name: string): Promise<Chain> {
  if (!isChainName(name)) throw new ApiError('web3_unsupported_chain', 'Unsupported chain')
  const chain = await chains[name]()
  if (!web3[chain.name].enabled) {
    throw new ApiError('web3_provider_disabled', `${chain.label} Web3 provider is disabled`)
  }
  return chain
}

const isChainName = (name: string): name is ChainName => Object.hasOwn(chains, name)

const shortestMessage = 64
const longestMessage = 20 * 1_024

function readMessage({ message: text, signature }: Web3Request, chain: Chain): SignedMessage {
  const bytes = Buffer.byteLength(text)
  if (bytes < shortestMessage) throw invalid('message is too short')
  if (bytes > longestMessage) throw invalid('message must not exceed 20KB')
  const signatureBytes = chain.readSignature(signature)
  if (signatureBytes === undefined) {
    throw invalid(
      chain.name === 'ethereum'
        ? 'signature must be 65 bytes in hexadecimal'
        : 'signature must be 64 bytes in base64',
    )
  }
  const message = parseMessage(text, chain)
  if (!chain.verify(message, signatureBytes)) {
    throw refused('Signature does not match address in message')
  }
  return message
}

function parseMessage(text: string, chain: Chain): SignedMessage {
  try {
    return parseSignedMessage(text, chain)
  } catch (error) {
    if (error instanceof MessageError) throw invalid(`The message is invalid: ${error.message}`)
    throw error
  }
}

/**
 * The wallet has shown the domain to the user. If it were not checked, another site could use a
 * message that was signed for it.
 */
function checkSite(
  { redirects }: Services,
  { uri, domain }: SignedMessage,
  { label }: Chain,
): void {
  if (uri.protocol !== 'https:' && !isLoopback(uri)) {
    throw refused(`Signed ${label} message is using URI which does not use HTTPS`)
  }
  const verdict = redirects.judge(uri.href)
  if (!verdict.isPermitted) {
    throw refused(`Signed ${label} message was signed for another site: its URI is not allowed`)
  }
  const signedFor = URL.parse(`${uri.protocol}//${domain}`)
  if (signedFor === null || signedFor.host !== uri.host) {
    throw refused(`Signed ${label} message is using a domain that does not match its URI`)
  }
}

function checkTimes(message: SignedMessage, nowMs: number, mostValidMs: number): void {
  const { issuedAtMs, expiresAtMs, notBeforeMs } = message
  if (notBeforeMs !== undefined && nowMs < notBeforeMs) {
    throw refused('Signed message becomes valid in the future')
  }
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs) {
    throw refused('Signed message is expired')
  }
  if (nowMs > issuedAtMs + mostValidMs) throw refused('Message was issued too long ago')
  // The clock of the device may be wrong.
  if (nowMs < issuedAtMs - mostValidMs) throw refused('Message was issued too far in the future')
}

/**
 * Refuses a message that was used before. A wallet may sign only one message with the same nonce;
 * clients of Supabase Auth send no nonce unless the app chooses one, and then the whole message is
 * compared. The signature is not, because a message has several valid ones.
 * @returns the ID of the identity, as it is stored if it is known.
 */
async function claimMessage(
  { db }: Services,
  { address: shown, text, nonce, issuedAtMs }: SignedMessage,
  { name, toAddress, toOtherForms }: Chain,
  mostValidMs: number,
): Promise<string> {
  const address = toAddress(shown) ?? shown
  const toId = (form: string) => `${provider.id}:${name}:${form}`
  const id = toId(address)
  const part = nonce === '' ? `message:${text}` : `nonce:${nonce}`
  const [claim] = await db.run(claimWeb3Message, {
    key: createHash('sha256').update(`${id}\n${part}`).digest(),
    expiresAt: new Date(issuedAtMs + mostValidMs),
    provider: provider.id,
    ids: [id, ...toOtherForms(address).map(toId)],
  })
  if (!claim?.is_new) throw refused('Message was already used to sign in')
  return claim.known_id ?? id
}

function toProfile(
  id: string,
  { address, chainId, domain, statement }: SignedMessage,
  { name, toAddress }: Chain,
): ExternalProfile {
  const custom_claims = {
    address: toAddress(address) ?? address,
    chain: name,
    network: chainId,
    domain,
    statement,
  }
  return { id, emails: [], claims: { custom_claims } }
}

function refused(message: string): ApiError {
  return new ApiError('invalid_credentials', message, { oauthError: 'invalid_grant' })
}
