// Replaces the service of Upstash: receives commands over HTTP and runs them on a local Redis.
// https://upstash.com/docs/redis/features/restapi

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { Redis } from 'ioredis'

const client = new Redis(process.env.REDIS_URL)

/** Scripts begin with a flag that only the service supports, so they have another digest here. */
const digests = new Map()
const toDigest = (script) => createHash('sha1').update(script).digest('hex')

function toLocalCommand([name, ...args]) {
  if (name === 'evalsha') return ['evalsha', digests.get(args[0]) ?? args[0], ...args.slice(1)]
  if (name !== 'eval') return [name, ...args]
  const script = args[0].replace(/^#!.*\n/, '')
  digests.set(toDigest(args[0]), toDigest(script))
  return ['eval', script, ...args.slice(1)]
}

const run = (command) =>
  client.call(...toLocalCommand(command)).then(
    (result) => ({ result }),
    ({ message }) => ({ error: message }),
  )

const encode = (value) => {
  if (typeof value === 'string') return Buffer.from(value).toString('base64')
  return Array.isArray(value) ? value.map(encode) : value
}

const server = createServer(async (request, response) => {
  const chunks = await request.toArray()
  const body = JSON.parse(Buffer.concat(chunks))
  const isPipeline = request.url.startsWith('/pipeline') || request.url.startsWith('/multi-exec')
  const answers = await Promise.all((isPipeline ? body : [body]).map(run))
  if (request.headers['upstash-encoding'] === 'base64') {
    for (const answer of answers) if ('result' in answer) answer.result = encode(answer.result)
  }
  const status = !isPipeline && 'error' in answers[0] ? 400 : 200
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isPipeline ? answers : answers[0]))
})
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('disconnect', () => process.exit())
