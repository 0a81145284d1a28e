import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface RawOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends the target and the headers unchanged; regular HTTP clients would normalize them. */
export async function callRaw(
  consoleUrl: string,
  target: string,
  { method = 'GET', headers = {} }: RawOptions = {},
): Promise<RawAnswer> {
  const { port, host } = new URL(consoleUrl)
  const lines = Object.entries({ host, connection: 'close', ...headers })
  const socket = connect(Number(port), '127.0.0.1')
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n`)
  const [start = '', ...rest] = (await text(socket)).split('\r\n\r\n')
  const [statusLine = '', ...headerLines] = start.split('\r\n')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: new Headers(
      headerLines.map((line): [string, string] => {
        const at = line.indexOf(':')
        return [line.slice(0, at), line.slice(at + 1).trim()]
      }),
    ),
    body: rest.join('\r\n\r\n'),
  }
}
