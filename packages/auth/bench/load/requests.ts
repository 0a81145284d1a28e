export const password = 'correct horse battery staple'

/** Our server counts requests by this header, so each connection has its own limits. */
export const clientHeader = 'x-bench-client'

const head = (line: string, client: number) =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: portcullis-bench\r\n${clientHeader}: ${client}\r\n`

export function get(path: string, accessToken: string, client: number): string {
  return `${head(`GET ${path}`, client)}authorization: Bearer ${accessToken}\r\n\r\n`
}

export function post(path: string, body: object, client: number): string {
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return (
    `${head(`POST ${path}`, client)}content-type: application/json\r\n` +
    `content-length: ${length}\r\n\r\n${text}`
  )
}

export const refresh = (token: string, client: number) =>
  post('/token?grant_type=refresh_token', { refresh_token: token }, client)

export const logIn = (email: string, client: number) =>
  post('/token?grant_type=password', { email, password }, client)

export const signUp = (email: string, client: number) =>
  post('/signup', { email, password }, client)
