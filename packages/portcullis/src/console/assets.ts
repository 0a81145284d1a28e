import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly zipped: Buffer
  readonly tag: string
  readonly cacheControl: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The bundler includes a content hash in the names of these files. */
const isNamedByContent = /-[A-Z\d]{8}\.js$/

/** Exists in the published package; in the repository the files are bundled at start. */
const builtFolder = join(import.meta.dirname, '../web-assets')

/** On a busy machine, a process can take this long to notice a signal. */
const signalDelayMs = 500

export type AssetTexts = ReadonlyMap<string, string>

async function readTexts(): Promise<AssetTexts> {
  if (existsSync(builtFolder)) {
    const names = globSync('*', { cwd: builtFolder })
    return new Map(names.map((name) => [name, readFileSync(join(builtFolder, name), 'utf8')]))
  }
  // Not a literal import: the compiler must not follow it, and the published package has no bundler.
  const bundler = pathToFileURL(join(import.meta.dirname, '../../bundle/bundle-web.ts')).href
  const { bundleWeb }: { bundleWeb(): Promise<AssetTexts> } = await import(bundler)
  try {
    return await bundleWeb()
  } catch (error) {
    // Ctrl-C also ends the bundler's process, whose end can be noticed first. The signal then still has time to
    // stop this process quietly.
    await sleep(signalDelayMs)
    throw error
  }
}

async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const texts = await readTexts()
  return new Map(
    await Promise.all(
      [...texts].map(async ([name, text]) => [name, await toAsset(name, text)] as const),
    ),
  )
}

/** Shared by all consoles of a process. */
let read: Promise<ReadonlyMap<string, Asset>> | undefined

/** Serves the page at every path of the console, and its files under `/assets/`. */
export async function serveAssets(server: FastifyInstance): Promise<void> {
  read ??= readAssets()
  const assets = await read
  const page = assets.get('index.html')
  if (page === undefined) throw new Error('index.html of the console is missing')

  server.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (asset === undefined) return reply.callNotFound()
    return send(asset, request, reply)
  })
  server.get('/', async (request, reply) => send(page, request, reply))
  server.setNotFoundHandler(async (request, reply) => {
    if (wantsPage(request)) return send(page, request, reply)
    const message = `${request.method} ${request.url} does not exist.`
    return reply.code(404).send({ error: { code: 'not_found', message } })
  })
}

/** Only the script knows which pages exist, but these paths never belong to a page. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  const isCall = /^\/(?:api|assets|auth|graphql)(?:[/?]|$)/.test(url)
  return isRead && !isCall && headers.accept?.includes('text/html') === true
}

function send(asset: Asset, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { type, body, zipped, tag, cacheControl } = asset
  reply.type(type).headers({ etag: tag, 'cache-control': cacheControl, vary: 'accept-encoding' })
  if (request.headers['if-none-match'] === tag) return reply.code(304).send()
  const isZipped = request.headers['accept-encoding']?.includes('gzip') === true
  if (isZipped) reply.header('content-encoding', 'gzip')
  return reply.send(isZipped ? zipped : body)
}

async function toAsset(name: string, text: string): Promise<Asset> {
  const body = Buffer.from(text)
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    body,
    zipped: await promisify(gzip)(body),
    tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`,
    cacheControl: isNamedByContent.test(name) ? 'private, max-age=31536000, immutable' : 'no-cache',
  }
}
