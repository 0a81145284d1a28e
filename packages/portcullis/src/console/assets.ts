import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A file of the page, ready to be sent. */
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

/** The bundler writes what is in such a file into its name. */
const isNamedByContent = /-[A-Z\d]{8}\.js$/

/** The published package brings the files; in the repository they are made of the sources at start. */
const builtFolder = join(import.meta.dirname, '../web-assets')

export type AssetTexts = ReadonlyMap<string, string>

async function readTexts(): Promise<AssetTexts> {
  if (existsSync(builtFolder)) {
    const names = globSync('*', { cwd: builtFolder })
    return new Map(names.map((name) => [name, readFileSync(join(builtFolder, name), 'utf8')]))
  }
  // No literal import: neither the compiler nor an installed package has a bundler to follow it to.
  const bundler = pathToFileURL(join(import.meta.dirname, '../../bundle/bundle-web.ts')).href
  const { bundleWeb }: { bundleWeb(): Promise<AssetTexts> } = await import(bundler)
  return bundleWeb()
}

async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const texts = await readTexts()
  return new Map(
    await Promise.all(
      [...texts].map(async ([name, text]) => [name, await toAsset(name, text)] as const),
    ),
  )
}

/** They are the same for every console of a process. */
let read: Promise<ReadonlyMap<string, Asset>> | undefined

/** Serves the page under every address of the console's own, and its files under `/assets/`. */
export async function serveAssets(server: FastifyInstance): Promise<void> {
  read ??= readAssets()
  const assets = await read
  const page = assets.get('index.html')
  if (page === undefined) throw new Error('The console has no page: index.html is missing')

  server.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (asset === undefined) return reply.callNotFound()
    return send(asset, request, reply)
  })
  server.get('/', async (request, reply) => send(page, request, reply))
  server.setNotFoundHandler(async (request, reply) => {
    if (wantsPage(request)) return send(page, request, reply)
    const message = `There is nothing at ${request.method} ${request.url}`
    return reply.code(404).send({ error: { code: 'not_found', message } })
  })
}

/** Which pages there are, only the script knows; but what lies below these is never one. */
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
