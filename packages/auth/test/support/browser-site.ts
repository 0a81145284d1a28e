import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ChromiumServer } from '@portcullis/test-servers'
import { build } from 'esbuild'
import { type AuthClient, type ClientServer, openClientServer } from './auth-js.ts'
import type { SitePage } from './browser-page.ts'
import { shareServer } from './shared-server.ts'

type Context = Awaited<ReturnType<ChromiumServer['browser']['newContext']>>
type Page = Awaited<ReturnType<Context['newPage']>>

/** The asynchronous methods of the client. */
type Method = {
  [Name in keyof AuthClient]: AuthClient[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never
}[keyof AuthClient]

/** A browser tab with a page of the site. */
export interface Tab {
  readonly page: Page
  /** Calls the client of the page. Errors are returned as the client serializes them to JSON. */
  call<Name extends Method>(
    name: Name,
    ...args: Parameters<AuthClient[Name]>
  ): Promise<Awaited<ReturnType<AuthClient[Name]>>>
  events(): Promise<readonly string[]>
  /** Waits until the client of the page has emitted an event. */
  waitForEvent(event: string): Promise<void>
}

export interface BrowserSite {
  /** The site has another origin than the authentication server. */
  readonly url: string
  readonly server: ClientServer
  /** Opens a browser context that shares no storage with others. */
  openBrowser(): Promise<{
    readonly context: Context
    /**
     * Opens a path of the site or a link. The paths `/pkce…` and `/locked…` configure their client
     * accordingly.
     */
    openTab(path: string): Promise<Tab>
  }>
}

/**
 * Opens a web application in a real browser. Returns undefined if PostgreSQL or Chromium is
 * missing.
 * @param hostname of the site; passkeys need a host name, `localhost`.
 */
export async function openBrowserSite(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  hostname = '127.0.0.1',
): Promise<BrowserSite | undefined> {
  const chromium = await openSharedBrowser(t)
  if (!chromium) return undefined
  bundling ??= bundlePage()
  const script = await bundling
  let authUrl = ''
  const site = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isScript ? script : toHtml(authUrl))
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  const { port } = site.address() as AddressInfo
  const url = `http://${hostname}:${port}`
  const server = await openClientServer(t, { AUTH_SITE_URL: url, ...env })
  if (!server) return undefined
  authUrl = server.url
  return {
    url,
    server,
    async openBrowser() {
      const context = await chromium.browser.newContext()
      const openTab = async (path: string) => {
        const page = await context.newPage()
        await page.goto(new URL(path, url).href)
        return toTab(page)
      }
      return { context, openTab }
    },
  }
}

let bundling: Promise<string> | undefined
/** Starting a browser takes as long as a test, so it is shared. */
export const openSharedBrowser = shareServer('chromium')

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('browser-page.ts', import.meta.url))],
    bundle: true,
    format: 'iife',
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

function toHtml(authUrl: string): string {
  return `<!doctype html><html lang="en" data-auth-url="${authUrl}"><title>Site</title>
<link rel="icon" href="data:,"><script src="/page.js"></script></html>`
}

declare const site: SitePage

function toTab(page: Page): Tab {
  return {
    page,
    async call(name, ...args) {
      const text = await page.evaluate(
        async ([method, values]) => {
          const methods: Record<string, unknown> = Object(site.client)
          const run = methods[method]
          if (typeof run !== 'function') throw new Error(`The client has no method ${method}`)
          return JSON.stringify(await run.apply(site.client, values))
        },
        [name, args] as const,
      )
      return JSON.parse(text)
    },
    events: () => page.evaluate(() => [...site.events]),
    async waitForEvent(event) {
      // Poll at an interval instead of each frame, which would make the browser paint.
      const polling = 50
      // After a redirect the script of the next page may not have run yet.
      const isPast = (name: string) => typeof site !== 'undefined' && site.events.includes(name)
      await page.waitForFunction(isPast, event, { polling })
    },
  }
}
