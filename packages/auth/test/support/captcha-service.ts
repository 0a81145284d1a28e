import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { CaptchaName } from '../../src/plugins/captcha/index.ts'

export const captchaSecret = 'our secret there'

/** The error codes of the services for a token that was used before. */
const usedBefore: Readonly<Record<CaptchaName, string>> = {
  hcaptcha: 'invalid-or-already-seen-response',
  turnstile: 'timeout-or-duplicate',
}

export interface CaptchaService {
  readonly url: string
  /** Returns a token as a page gets it after a solved challenge; it is valid once. */
  solve(): string
  /** The received forms in order. */
  readonly forms: readonly Readonly<Record<string, string>>[]
  /** Violations of the documented protocol by the server. */
  readonly faults: readonly string[]
  /** When undefined, the service works normally. */
  failure:
    | 'never responds'
    | 'broken'
    | 'invalid JSON'
    | { readonly reasons: readonly string[] }
    | undefined
}

/** Follows the documented protocol of both services and counts every use of a token. */
export async function openCaptchaService(
  t: TestContext,
  name: CaptchaName,
): Promise<CaptchaService> {
  const tokens = new Map<string, 'fresh' | 'used'>()
  const forms: Record<string, string>[] = []
  const faults: string[] = []

  const judge = ({ secret, response = '' }: Readonly<Record<string, string>>) => {
    if (secret !== captchaSecret) return ['invalid-input-secret']
    if (response === '') return ['missing-input-response']
    const state = tokens.get(response)
    if (state === 'fresh') {
      tokens.set(response, 'used')
      return []
    }
    return [state === undefined ? 'invalid-input-response' : usedBefore[name]]
  }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    faults.push(...findFaults(request, body))
    const form = Object.fromEntries(new URLSearchParams(body))
    forms.push(form)
    const { failure } = service
    if (failure === 'never responds') return
    if (failure === 'broken') return response.writeHead(502).end('<h1>Bad gateway</h1>')
    if (failure === 'invalid JSON') return response.end('true')
    const reasons = failure?.reasons ?? judge(form)
    const answer = {
      success: reasons.length === 0,
      challenge_ts: new Date().toISOString(),
      hostname: 'site.example',
      'error-codes': reasons,
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const service: CaptchaService = {
    url: `http://127.0.0.1:${port}/siteverify`,
    solve() {
      const token = `P1_${randomUUID()}`
      tokens.set(token, 'fresh')
      return token
    },
    forms,
    faults,
    failure: undefined,
  }
  return service
}

function findFaults({ method, url, headers }: IncomingMessage, body: string): readonly string[] {
  const names = [...new URLSearchParams(body).keys()].toSorted()
  return [
    ...(method === 'POST' && url === '/siteverify' ? [] : [`${method} ${url}`]),
    ...(/^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '')
      ? []
      : [`content-type: ${headers['content-type']}`]),
    ...(names.join() === 'remoteip,response,secret' ? [] : [`fields ${names}`]),
  ]
}

/** The environment that enables CAPTCHA checks. */
export function toCaptchaEnvironment(name: CaptchaName) {
  return {
    AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_PROVIDER: name,
    AUTH_SECURITY_CAPTCHA_SECRET: captchaSecret,
  } as const
}
