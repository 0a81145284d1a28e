import { RateLimitedError } from '../audits/rate-limited.ts'

/**
 * The messages for requests without a response, by the code of the error or of one of its causes.
 */
const SENTENCES: { readonly [code: string]: string } = {
  ECONNREFUSED: 'refuses connections: is the server running, and is the port right?',
  ENOTFOUND: 'cannot be found: the host name does not resolve. Is it spelt right?',
  EAI_AGAIN: 'cannot be found: the host name does not resolve. Is there a network?',
  ECONNRESET: 'closed the connection without responding: if it speaks TLS, try https://',
  UND_ERR_SOCKET: 'closed the connection without responding: if it speaks TLS, try https://',
  EPIPE: 'closed the connection without responding: if it speaks TLS, try https://',
  EHOSTUNREACH: 'cannot be reached: there is no route to the host.',
  ENETUNREACH: 'cannot be reached: there is no route to the network.',
  ETIMEDOUT: 'cannot be reached: connecting took too long. Is a firewall in between?',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached: connecting took too long. Is a firewall in between?',
  CERT_HAS_EXPIRED: 'has a TLS certificate that has expired: renew it.',
  CERT_NOT_YET_VALID: 'has a TLS certificate that is not valid yet: check the clocks.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a TLS certificate for another host name: use the name in the certificate.',
}

const UNTRUSTED =
  'has a TLS certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to the file of its issuer.'

const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
])

const CLOSED_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'])

/** Whether the server closed the connection before it responded. */
export function isClosedConnection(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && CLOSED_CODES.has(cause.code)) return true
  }
  return false
}

/** Describes a request without a response in one sentence. */
export function describeFailure(error: unknown, url: string, timeoutMs: number): string {
  let last: unknown = error
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    last = cause
    if (cause instanceof RateLimitedError) {
      return `${url} limits requests (429) for longer than audits wait: raise its limit for this address, or try again later.`
    }
    if (cause.name === 'TimeoutError') {
      return `${url} did not respond within ${timeoutMs / 1000} seconds: try a longer --timeout.`
    }
    // The parser's errors may or may not have a code.
    const code = cause.name === 'HTTPParserError' ? 'HPE_' : 'code' in cause && String(cause.code)
    const sentence = code ? describeCode(code) : undefined
    if (sentence !== undefined) return `${url} ${sentence}`
  }
  const reason = last instanceof Error ? last.message : String(last)
  // The Fetch standard blocks a list of ports that belong to other protocols.
  if (reason === 'bad port') return `${url} has a port that web clients refuse: use another port.`
  return `${url} could not be reached: ${reason.replace(/\p{C}/gu, ' ')}`
}

function describeCode(code: string): string | undefined {
  if (UNTRUSTED_CODES.has(code)) return UNTRUSTED
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    return 'does not complete the TLS handshake: if it does not speak TLS, try http://'
  }
  if (code.startsWith('HPE_')) return 'does not respond with HTTP: is this the right port?'
  return SENTENCES[code]
}
