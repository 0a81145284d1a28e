import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { isCrossSite } from '../allowed-origins.ts'
import { type HttpHandler, sendText } from '../http-listener.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a listener on this address can be reached only from this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host)
}

function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  const family = isIP(plain)
  return family !== 0 && loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Protects a page that is expensive or reveals more than envoyproxy/ratelimit does: it is available only from
 * this machine, or with the token. A browser on this machine may act for any website, so a request from a
 * browser, or with a host name that no local client would use, needs the token too.
 */
export function guardPage(handle: HttpHandler, token: string | undefined): HttpHandler {
  const expected = token === undefined ? undefined : hash(token)
  const hasToken = ({ headers }: IncomingMessage) => {
    const [, given] = /^Bearer +(.+)$/i.exec(headers.authorization ?? '') ?? []
    return expected !== undefined && given !== undefined && timingSafeEqual(hash(given), expected)
  }
  return (request, response) => {
    if (isLocalCaller(request) || hasToken(request)) {
      handle(request, response)
      return
    }
    sendText(response, 403, refusal)
  }
}

const refusal =
  'This page is available only from the machine of the service. From other machines, send the value ' +
  'of DEBUG_TOKEN: authorization: Bearer VALUE\n'

function isLocalCaller(request: IncomingMessage): boolean {
  const { host = '' } = request.headers
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  const isNamedLocally = host === '' || name === 'localhost' || isIP(name) !== 0
  return (
    isLoopbackAddress(request.socket.remoteAddress ?? '') && isNamedLocally && !isCrossSite(request)
  )
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
