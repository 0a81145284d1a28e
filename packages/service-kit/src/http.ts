import process from 'node:process'

/**
 * The functions of `node:http` that the servers use. An import of `node:http` would read all its exports, and
 * `WebSocket` among them loads Node's fetch, which takes as long as a third of the start of a server.
 */
export const {
  Agent,
  createServer,
  request,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule('node:http')
