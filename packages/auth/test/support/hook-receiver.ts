import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'

export const hookSecret = 'v1,whsec_c2VjcmV0IG9mIHR3ZW50eS1mb3VyIGJ5dGVz'

export interface HookRequest {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary fields
  readonly body: any
}

/** A status with a body, JSON by default; or no response at all. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly isNone?: boolean
}

export interface HookReceiver {
  readonly url: string
  readonly port: number
  /** All received requests, newest last. */
  readonly requests: HookRequest[]
  /** The response to each request; empty by default. */
  reply: (hookRequest: HookRequest, count: number) => Reply
  /** Closes idle connections, as receivers do after some seconds. */
  closeIdle(): void
  /** Resolves with the first matching request, now or later. */
  waitFor(fits: (hookRequest: HookRequest) => boolean): Promise<HookRequest>
}

export interface ReceiverOptions {
  readonly tls?: { readonly key: string; readonly certificate: string }
  /** Without a secret, signatures are not checked. */
  readonly secret?: string
}

/** A receiver that verifies signatures with the standardwebhooks package, as real receivers do. */
export async function openHookReceiver(
  t: TestContext,
  { tls, secret }: ReceiverOptions = {},
): Promise<HookReceiver> {
  const webhook = secret === undefined ? undefined : new Webhook(secret.replace(/^v1,/, ''))
  const requests: HookRequest[] = []
  const waiting = new Set<() => void>()
  const server = tls ? createTlsServer({ key: tls.key, cert: tls.certificate }) : createServer()
  server.on('request', async (request, response) => {
    const body = await text(request)
    const { headers } = request
    const hookRequest = { headers, text: body, body: JSON.parse(body) }
    const reply = isGenuine(webhook, hookRequest)
      ? receiver.reply(hookRequest, requests.push(hookRequest))
      : { status: 401 }
    for (const check of waiting) check()
    if (reply.isNone) return
    const isText = typeof reply.body === 'string'
    const type = isText || reply.body === undefined ? {} : { 'content-type': 'application/json' }
    response.writeHead(reply.status ?? (reply.body === undefined ? 204 : 200), {
      ...type,
      ...reply.headers,
    })
    response.end(isText ? reply.body : reply.body && JSON.stringify(reply.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const receiver: HookReceiver = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    requests,
    reply: () => ({}),
    closeIdle: () => server.closeIdleConnections(),
    waitFor(fits) {
      const { promise, resolve } = Promise.withResolvers<HookRequest>()
      const check = () => {
        const found = requests.find(fits)
        if (found === undefined) return
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      check()
      return promise
    },
  }
  return receiver
}

function isGenuine(webhook: Webhook | undefined, { headers, text: body }: HookRequest): boolean {
  if (webhook === undefined) return true
  try {
    webhook.verify(body, {
      'webhook-id': `${headers['webhook-id']}`,
      'webhook-timestamp': `${headers['webhook-timestamp']}`,
      'webhook-signature': `${headers['webhook-signature']}`,
    })
    return true
  } catch {
    return false
  }
}
