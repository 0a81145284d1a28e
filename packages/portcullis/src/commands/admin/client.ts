import { toReason } from '@portcullis/service-kit/text/reason'
import { toKeyHeaders } from '../../console/health/index.ts'
import { UpRefusal } from '../../up/errors.ts'
import { findRunningAuth } from '../../up/running-auth.ts'
import { findDataFolder, folderAdvice } from '../find-data-folder.ts'
import { checkHeaderText, keyVariable, parseBaseUrl } from '../server-arguments.ts'

/** The command cannot continue; the message says what to do. */
export class AdminFailure extends Error {
  override readonly name = 'AdminFailure'
  /** 2 if an argument or a variable is invalid. */
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const urlVariable = 'PORTCULLIS_AUTH_URL'

export interface TargetOptions {
  readonly authUrl: string | undefined
  readonly data: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The admin endpoints of an auth server. */
export interface AdminClient {
  /** Returns undefined if the server responds with 404. @throws {AdminFailure} */
  get(path: string, query?: Readonly<Record<string, string>>): Promise<unknown>
  put(path: string, body: unknown): Promise<unknown>
  post(path: string, body: unknown): Promise<unknown>
  delete(path: string, body?: unknown): Promise<unknown>
}

/** @throws {AdminFailure} if no server is known. */
export function createAdminClient(options: TargetOptions): AdminClient {
  const target = findTarget(options)
  const send = (method: string, path: string, body: unknown) =>
    call(target, path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    get: (path, query = {}) => {
      const search = new URLSearchParams(query)
      return call(target, search.size > 0 ? `${path}?${search}` : path, { method: 'GET' })
    },
    put: (path, body) => send('PUT', path, body),
    post: (path, body) => send('POST', path, body),
    delete: (path, body = {}) => send('DELETE', path, body),
  }
}

interface Target {
  readonly url: string
  readonly key: () => Promise<string>
}

function findTarget({ authUrl, data, env }: TargetOptions): Target {
  const text = authUrl ?? (data === undefined ? env[urlVariable]?.trim() : undefined)
  if (!text) return findRunning(data)
  const faults: string[] = []
  const name = authUrl === undefined ? urlVariable : '--auth-url'
  const url = parseBaseUrl(name, text, faults) ?? ''
  const key = env[keyVariable]?.trim()
  if (key) checkHeaderText(keyVariable, key, faults)
  const [fault] = faults
  if (fault !== undefined) throw new AdminFailure(fault, 2)
  if (!key) {
    throw new AdminFailure(
      `${url} needs a service key. Set ${keyVariable}, for example to the output of portcullis token.`,
    )
  }
  return { url, key: async () => key }
}

const noServer = `No auth server was found. ${folderAdvice}
For another server, set ${urlVariable} and ${keyVariable}.`

function findRunning(data: string | undefined): Target {
  try {
    const folder = findDataFolder(data)
    if (folder === undefined) throw new AdminFailure(noServer)
    const running = findRunningAuth(folder)
    if (running !== undefined) return running
    throw new AdminFailure(
      `portcullis up is not running with an auth server (data folder ${folder.path}). Start it, or set ${urlVariable} and ${keyVariable} for another server.`,
    )
  } catch (error) {
    if (error instanceof UpRefusal) throw new AdminFailure(error.message)
    throw error
  }
}

const timeoutMs = 30_000

async function call({ url, key }: Target, path: string, init: RequestInit): Promise<unknown> {
  let response: Response
  let text: string
  try {
    response = await fetch(`${url}${path}`, {
      ...init,
      headers: { ...init.headers, ...toKeyHeaders(await key()) },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    text = await response.text()
  } catch (error) {
    const { cause } = error instanceof Error ? error : {}
    const reason = toReason(cause instanceof Error ? cause : error)
    throw new AdminFailure(
      `The auth server does not respond at ${url}: ${reason}. Check that it is running at this URL.`,
    )
  }
  const { status } = response
  if (status === 204) return {}
  const body = parseJson(text)
  if (status === 404) {
    const advice = findAdvice(path, body)
    if (advice === undefined) return undefined
    throw new AdminFailure(`${advice}, and restart it.`)
  }
  if (status >= 200 && status < 300 && body !== undefined) return body
  if (status === 401 || status === 403) {
    throw new AdminFailure(
      `The auth server at ${url} refused the key (status ${status}). Set ${keyVariable} to a service key of this server.`,
    )
  }
  const { msg } = Object(body)
  throw new AdminFailure(
    typeof msg === 'string'
      ? `The auth server at ${url} responded with status ${status}: ${msg}`
      : `${url} does not respond like an auth server (status ${status}). Check the URL.`,
  )
}

/** Features of the auth server that a setting switches on, by a part of the paths of their endpoints. */
const features = [
  ['/oauth/', 'The OAuth server is switched off', 'AUTH_OAUTH_SERVER_ENABLED=true'],
  [
    '/custom-providers',
    'The registration of custom providers is switched off',
    'AUTH_CUSTOM_OAUTH_ENABLED=true',
  ],
  [
    '/sso/',
    'Company sign-in with SAML is switched off',
    'AUTH_SAML_ENABLED=true and AUTH_SAML_PRIVATE_KEY',
  ],
] as const

const switchedOff: readonly unknown[] = ['feature_disabled', 'saml_provider_disabled']

/** Returns what to do if a feature is switched off. */
function findAdvice(path: string, body: unknown): string | undefined {
  if (!switchedOff.includes(Object(body).error_code)) return undefined
  const [, state, settings] = features.find(([part]) => path.includes(part)) ?? []
  if (state === undefined) return undefined
  return `${state}. Set ${settings} in the environment of the auth server; with portcullis up, in the file .env in the data folder`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
