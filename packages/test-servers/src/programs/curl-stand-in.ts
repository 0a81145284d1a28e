// The part of curl that the documentation uses, for machines without curl that cannot install it:
//
//   curl [-s] [-S] [-i] [-L] [-f] [-b COOKIES] [-d DATA] [-H HEADER]… [-o FILE] [-w FORMAT] URL
//
// An unknown option ends it with code 2, as in curl, instead of being ignored.

import { once } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

interface Call {
  url: string
  data: string | undefined
  headers: [name: string, value: string][]
  outputFile: string | undefined
  format: string
  showsHeaders: boolean
  followsRedirects: boolean
  failsOnErrors: boolean
  keepsCookies: boolean
}

const call: Call = {
  url: '',
  data: undefined,
  headers: [],
  outputFile: undefined,
  format: '',
  showsHeaders: false,
  followsRedirects: false,
  failsOnErrors: false,
  keepsCookies: false,
}

const flags: Readonly<Record<string, () => void>> = {
  s: () => {},
  S: () => {},
  i: () => {
    call.showsHeaders = true
  },
  L: () => {
    call.followsRedirects = true
  },
  f: () => {
    call.failsOnErrors = true
  },
}

const options: Readonly<Record<string, (value: string) => void>> = {
  b: (value) => {
    if (value !== '') endWith('the substitute supports only -b ""', 2)
    call.keepsCookies = true
  },
  d: (value) => {
    call.data = value
  },
  H: (value) => {
    const colon = value.indexOf(':')
    call.headers.push([value.slice(0, colon), value.slice(colon + 1).trim()])
  },
  o: (value) => {
    call.outputFile = value
  },
  w: (value) => {
    call.format = value
  },
}

readArguments(process.argv.slice(2))
for (const url of expandRange(call.url)) await send(url)

function readArguments(args: readonly string[]): void {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    if (word === '--fail') call.failsOnErrors = true
    else if (word.startsWith('--')) endWith(`the substitute does not support ${word}`, 2)
    else if (!word.startsWith('-')) call.url = word
    else {
      for (let letter = 1; letter < word.length; letter++) {
        const name = word[letter] ?? ''
        const flag = flags[name]
        const option = options[name]
        if (flag) flag()
        else if (!option) endWith(`the substitute does not support -${name}`, 2)
        else {
          const rest = word.slice(letter + 1)
          option(rest === '' ? (args[++at] ?? '') : rest)
          break
        }
      }
    }
  }
  if (call.url === '') endWith('no URL specified', 2)
}

/** `http://host/?n=[1-3]` stands for three addresses. */
function expandRange(url: string): readonly string[] {
  const [, before = '', first, last, after = ''] = /^(.*)\[(\d+)-(\d+)\](.*)$/.exec(url) ?? []
  if (first === undefined || last === undefined) return [url]
  const count = Number(last) - Number(first) + 1
  return Array.from({ length: count }, (_, index) => `${before}${Number(first) + index}${after}`)
}

async function send(firstUrl: string): Promise<void> {
  const cookies = new Map<string, string>()
  let url = firstUrl
  for (let redirects = 0; redirects <= 50; redirects++) {
    const response = await ask(url, cookies)
    const status = response.statusCode ?? 0
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (call.keepsCookies) cookies.set(name, value)
    }
    const body = await buffer(response)
    const { location } = response.headers
    if (call.showsHeaders) print(toHead(response))
    if (call.followsRedirects && location !== undefined && status >= 300 && status < 400) {
      url = new URL(location, url).href
      continue
    }
    if (call.failsOnErrors && status >= 400)
      endWith(`The requested URL returned error: ${status}`, 22)
    print(body)
    process.stdout.write(
      call.format.replaceAll('%{http_code}', `${status}`).replaceAll('\\n', '\n'),
    )
    return
  }
  endWith('Maximum (50) redirects followed', 47)
}

async function ask(url: string, cookies: ReadonlyMap<string, string>): Promise<IncomingMessage> {
  const headers: Record<string, string> = { 'user-agent': 'curl/8.0', accept: '*/*' }
  if (call.data !== undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded'
    headers['content-length'] = `${Buffer.byteLength(call.data)}`
  }
  if (cookies.size > 0) headers['cookie'] = [...cookies].map((pair) => pair.join('=')).join('; ')
  for (const [name, value] of call.headers) headers[name.toLowerCase()] = value
  const sent = request(url, { method: call.data === undefined ? 'GET' : 'POST', headers })
  sent.end(call.data)
  try {
    const [response]: IncomingMessage[] = await once(sent, 'response')
    return response ?? endWith(`Empty reply from ${url}`, 52)
  } catch (error) {
    return endWith(`Failed to connect to ${url}: ${error}`, 7)
  }
}

function toHead({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

function print(bytes: string | Buffer): void {
  if (call.outputFile === undefined) process.stdout.write(bytes)
  else if (call.outputFile !== '/dev/null') appendFileSync(call.outputFile, bytes)
}

function endWith(message: string, code: number): never {
  // Written synchronously, since standard error may be a pipe and the process exits immediately.
  writeFileSync(process.stderr.fd, `curl: (${code}) ${message}\n`)
  process.exit(code)
}
