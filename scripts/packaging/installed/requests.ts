/** The parts of `portcullis up`, by their names in the console. */
export interface Parts {
  readonly auth: { readonly url: string }
  readonly ratelimit: { readonly url: string }
  readonly graphql: { readonly url: string }
}

/**
 * Opens the console as a browser does: the token is replaced by a cookie, and the page is loaded.
 */
export async function enterConsole(entryUrl: string): Promise<Parts> {
  const { origin } = new URL(entryUrl)
  await expectStatus(fetch(origin, asPage), 401)
  const entered = await fetch(entryUrl, { ...asPage, redirect: 'manual' })
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0]
  if (cookie === undefined) throw new Error(`No cookie for the token: ${entered.status}`)
  const page = await read(fetch(origin, { headers: { ...asPage.headers, cookie } }))
  for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
    await read(fetch(origin + path, { headers: { cookie } }))
  }
  const session = await read(fetch(`${origin}/api/session`, { headers: { cookie } }))
  const { parts }: { parts: Parts } = JSON.parse(session)
  return parts
}

export async function checkAuth(url: string): Promise<void> {
  const response: { name: string } = JSON.parse(await read(fetch(`${url}/health`)))
  if (typeof response.name !== 'string') throw new Error(`/health has no name: ${toText(response)}`)
}

export async function checkLimit(url: string, descriptor: Descriptor): Promise<void> {
  const [key, value] = descriptor.entry
  const request = {
    domain: descriptor.domain,
    descriptors: [{ entries: [{ key, value }] }],
  }
  const body = await read(fetch(url, { method: 'POST', body: JSON.stringify(request) }))
  const decision: { overallCode?: string; statuses?: { currentLimit?: object }[] } =
    JSON.parse(body)
  if (decision.overallCode !== 'OK' || !decision.statuses?.[0]?.currentLimit) {
    throw new Error(`No rule was found: ${body}`)
  }
}

export interface Descriptor {
  readonly domain: string
  readonly entry: readonly [key: string, value: string]
}

export async function checkGraphql(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify({ query: '{ __typename }' })
  const response = JSON.parse(await read(fetch(url, { method: 'POST', headers, body })))
  if (response.data?.__typename !== 'Query') throw new Error(`Unexpected: ${toText(response)}`)
}

const asPage = { headers: { accept: 'text/html' } }

async function read(responding: Promise<Response>): Promise<string> {
  return expectStatus(responding, 200)
}

async function expectStatus(responding: Promise<Response>, status: number): Promise<string> {
  const response = await responding.catch((error: Error) => {
    throw new Error(`No response: ${error.cause ?? error.message}`, { cause: error })
  })
  const text = await response.text()
  if (response.status !== status) {
    throw new Error(
      `${response.url} responded with ${response.status} instead of ${status}: ${text}`,
    )
  }
  return text
}

const toText = (value: unknown) => JSON.stringify(value)
