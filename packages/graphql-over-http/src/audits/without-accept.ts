import { MAX_BODY_BYTES } from './body.ts'

interface PlainInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string
}

// Loaded at run time instead of imported, so that bundlers for browsers do not have to resolve it.
function findBuiltins(url: string) {
  if (typeof process === 'undefined' || !process.getBuiltinModule) return undefined
  return process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
}

/** Whether this runtime has an HTTP client that does not add an `accept` header. */
export function canOmitAccept(): boolean {
  return findBuiltins('http:') !== undefined
}

/** Sends a request without an `accept` header, which every `fetch` would add. */
export async function requestWithoutAccept(url: string, init: PlainInit): Promise<Response> {
  const client = findBuiltins(url)
  if (!client) throw new Error('A request without an accept header needs the HTTP client of Node')
  return new Promise((resolve, reject) => {
    const request = client.request(
      url,
      { method: init.method, headers: init.headers },
      (message) => {
        const chunks: Uint8Array<ArrayBuffer>[] = []
        let length = 0
        message.on('data', (chunk: Uint8Array<ArrayBuffer>) => {
          chunks.push(chunk)
          length += chunk.byteLength
          if (length > MAX_BODY_BYTES) message.destroy(new Error('The response body is too long'))
        })
        message.on('error', reject)
        message.on('end', () => {
          const headers = new Headers()
          for (let i = 0; i < message.rawHeaders.length; i += 2) {
            headers.append(message.rawHeaders[i] ?? '', message.rawHeaders[i + 1] ?? '')
          }
          const { statusCode = 500, statusMessage = '' } = message
          // A Response with a null body status throws if given a body, even an empty one.
          const body = length > 0 ? new Blob(chunks) : null
          resolve(new Response(body, { status: statusCode, statusText: statusMessage, headers }))
        })
      },
    )
    request.on('error', reject)
    request.end(init.body)
  })
}
