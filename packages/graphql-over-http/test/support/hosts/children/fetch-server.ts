// Runs on Deno and on Bun: the runtime's own server with the fetch adapter.

import { createHandler } from '../../../../src/adapters/fetch.ts'
import { mount } from '../mount.ts'
import { openProbe } from '../probe.ts'

interface Runtime {
  readonly Deno?: {
    serve(options: object, handler: Fetch): { readonly addr: { readonly port: number } }
  }
  readonly Bun?: {
    serve(options: { readonly idleTimeout: number; readonly fetch: Fetch }): {
      readonly port: number
    }
  }
}
type Fetch = (request: Request) => Promise<Response>

const probe = openProbe()
const handlers = mount(probe, undefined, createHandler)

const handle: Fetch = async (request) => {
  const { pathname } = new URL(request.url)
  if (pathname === '/probe') return Response.json(probe.take())
  const handler = handlers.get(pathname)
  return handler ? handler(request) : new Response(null, { status: 404 })
}

const { Deno, Bun }: Runtime = globalThis as object
const address = { port: 0, hostname: '127.0.0.1' }
if (Deno) console.log(Deno.serve({ ...address, onListen: () => {} }, handle).addr.port)
// By default Bun closes connections that were idle for 10 s, just when a busy client may reuse them.
else if (Bun) console.log(Bun.serve({ ...address, idleTimeout: 0, fetch: handle }).port)
else throw new Error('neither Deno nor Bun')

process.stdin.on('end', () => process.exit()).resume()
