import type { Chain, SignedText } from './chain.ts'

/** A message of EIP-4361 ("Sign-In with Ethereum"), or of its counterpart for Solana. */
export interface SignedMessage extends SignedText {
  /** Empty if the message has none. */
  readonly statement: string
  readonly uri: URL
  /** Empty if the message has none. */
  readonly chainId: string
  /** Empty if the message has none. */
  readonly nonce: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number | undefined
  readonly notBeforeMs: number | undefined
}

/** A message does not follow the format. The text names the part and is sent to the client. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
}

/** The fields in the order of EIP-4361. */
const fieldNames = [
  'URI',
  'Version',
  'Chain ID',
  'Nonce',
  'Issued At',
  'Expiration Time',
  'Not Before',
  'Request ID',
  'Resources',
] as const
type FieldName = (typeof fieldNames)[number]

/**
 * Control characters, other line separators, invisible characters and characters that change the
 * direction of text could make a wallet show something else than what is checked here.
 */
const misleading = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u
const printableAscii = /^[\x20-\x7e]*$/

/**
 * Parses a message strictly: each field occurs at most once, and nothing is ignored, because the
 * user has signed every line. @throws {MessageError}
 */
export function parseSignedMessage(text: string, chain: Chain): SignedMessage {
  const lines = text.split('\n')
  const misled = lines.findIndex((line) => misleading.test(line))
  if (misled !== -1) throw new MessageError(`line ${misled + 1} contains an invisible character`)
  const { scheme, domain } = readHeader(lines[0] ?? '', chain)
  const address = lines[1] ?? ''
  if (chain.toAddress(address) === undefined) {
    throw new MessageError(`line 2 is not a valid ${chain.label} address`)
  }
  const { statement, next } = readStatement(lines, chain)
  const fields = readFields(lines, next, chain)
  if (fields.get('Version') !== '1') throw new MessageError('Version must be 1')
  const chainId = fields.get('Chain ID') ?? ''
  if (!chain.isChainId(chainId)) throw new MessageError('Chain ID is not valid')
  const nonce = fields.get('Nonce') ?? ''
  if (fields.has('Nonce') && !/^[a-zA-Z0-9]{8,}$/.test(nonce)) {
    throw new MessageError('Nonce must have at least 8 letters and digits')
  }
  const uri = parseUri(fields.get('URI') ?? '', 'URI')
  if (scheme !== undefined && `${scheme}:` !== uri.protocol) {
    throw new MessageError('the scheme in line 1 is not the scheme of the URI')
  }
  const issuedAtMs = parseTime(fields, 'Issued At')
  if (issuedAtMs === undefined) throw new MessageError('Issued At is missing')
  return {
    text,
    domain,
    address,
    statement,
    uri,
    chainId,
    nonce,
    issuedAtMs,
    expiresAtMs: parseTime(fields, 'Expiration Time'),
    notBeforeMs: parseTime(fields, 'Not Before'),
  }
}

const domainName =
  '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const authority = new RegExp(
  `^(?:([a-z][a-z0-9+.-]*)://)?((?:${domainName}|\\[::1\\])(?::\\d{1,5})?)$`,
  'i',
)

function readHeader(line: string, { label }: Chain) {
  const ending = ` wants you to sign in with your ${label} account:`
  if (!line.endsWith(ending)) throw new MessageError(`line 1 must end with "${ending.trim()}"`)
  const [, scheme, domain] = authority.exec(line.slice(0, -ending.length)) ?? []
  if (domain === undefined) throw new MessageError('line 1 must start with a domain')
  return { scheme: scheme?.toLowerCase(), domain }
}

/**
 * An empty line, then the statement and another empty line. Without a statement, EIP-4361 requires
 * a second empty line, and wallets for Solana write none.
 */
function readStatement(lines: readonly string[], { hasFixedOrder }: Chain) {
  if (lines[2] !== '') throw new MessageError('line 3 must be empty')
  const isField = fieldNames.some((name) => lines[3]?.startsWith(`${name}:`))
  if (!hasFixedOrder && isField) return { statement: '', next: 3 }
  if (hasFixedOrder && lines[3] === '') return { statement: '', next: 4 }
  const statement = lines[3] ?? ''
  if (statement === '' || lines[4] !== '') {
    throw new MessageError('the statement must be one line between empty lines')
  }
  return { statement, next: 5 }
}

/** Reads all lines from `first`. Resources are checked and not returned, because nothing uses them. */
function readFields(
  lines: readonly string[],
  first: number,
  { hasFixedOrder }: Chain,
): ReadonlyMap<FieldName, string> {
  const fields = new Map<FieldName, string>()
  let last = -1
  for (let at = first; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (!printableAscii.test(line)) throw new MessageError(`line ${at + 1} must be ASCII`)
    if (fields.has('Resources')) {
      if (!line.startsWith('- ')) throw new MessageError(`line ${at + 1} is not a resource`)
      checkUri(line.slice(2), `the resource in line ${at + 1}`)
      continue
    }
    const name = fieldNames.find((each) => line === `${each}:` || line.startsWith(`${each}: `))
    if (name === undefined) throw new MessageError(`line ${at + 1} is not a field of the format`)
    const order = fieldNames.indexOf(name)
    if (fields.has(name) || (hasFixedOrder && order < last)) {
      throw new MessageError(`line ${at + 1} repeats a field or is in the wrong place`)
    }
    last = order
    fields.set(name, line.slice(name.length + 2))
  }
  const resources = fields.get('Resources')
  if (resources !== undefined && resources !== '')
    throw new MessageError('Resources must be a list')
  return fields
}

/** The characters of RFC 3986. */
const uriPattern = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i

function checkUri(text: string, name: string): void {
  if (!uriPattern.test(text) || !URL.canParse(text)) {
    throw new MessageError(`${name} is not a valid URI (RFC 3986)`)
  }
}

function parseUri(text: string, name: string): URL {
  checkUri(text, name)
  return new URL(text)
}

/** RFC 3339, in which JavaScript and EIP-4361 agree. */
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function parseTime(fields: ReadonlyMap<FieldName, string>, name: FieldName): number | undefined {
  const text = fields.get(name)
  if (text === undefined) return undefined
  const timeMs = timePattern.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(timeMs)) throw new MessageError(`${name} is not a valid time (RFC 3339)`)
  return timeMs
}
