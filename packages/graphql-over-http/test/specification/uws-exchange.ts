import type { HttpRequest, HttpResponse } from '../../src/adapters/uws.ts'

/** What was written to a response of uWebSockets. */
export interface WrittenResponse {
  status?: string
  readonly headers: { [name: string]: string }
  body?: string
}

/**
 * A request and a response like those of uWebSockets, without the server, whose binary does not
 * load into every Node version that runs the tests.
 */
export function createUwsExchange(
  method: string,
  headers: { readonly [name: string]: string },
  body: string,
): { readonly req: HttpRequest; readonly res: HttpResponse; readonly written: WrittenResponse } {
  const written: WrittenResponse = { headers: {} }
  const req: HttpRequest = {
    getMethod: () => method,
    getUrl: () => '/graphql',
    getQuery: () => '',
    forEach: (callback) => {
      for (const [name, value] of Object.entries(headers)) callback(name, value)
    },
  }
  const res: HttpResponse = {
    onAborted: () => res,
    onData: (callback) => {
      const bytes = Buffer.from(body)
      queueMicrotask(() =>
        callback(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), true),
      )
    },
    cork: (callback) => callback(),
    writeStatus: (status) => {
      written.status = status
    },
    writeHeader: (name, value) => {
      written.headers[name] = value
    },
    end: (text) => {
      written.body = text ?? ''
    },
    endWithoutBody: () => {
      written.body = ''
    },
  }
  return { req, res, written }
}
