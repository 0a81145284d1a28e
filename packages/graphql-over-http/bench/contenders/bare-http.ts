import { createServer } from 'node:http'
import { toRequestBody, toResponseBody } from '../queries.ts'
import { listenOn } from './listen.ts'

const hello = toResponseBody('hello')
const list = toResponseBody('list')
const helloRequestBytes = Buffer.byteLength(toRequestBody('hello'))

/**
 * Reads the request and sends a constant of the right size, to measure the cost of Node's HTTP
 * server alone.
 */
const server = createServer((req, res) => {
  let bytes = 0
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  req.on('end', () => {
    const body = bytes === helloRequestBytes ? hello : list
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    res.end(body)
  })
})

export const listen = () => listenOn(server)
