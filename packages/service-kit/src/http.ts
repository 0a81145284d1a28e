import process from 'node:process'

/**
 * The functions of `node:http`. An ES module that imports them from there reads all exports, including the
 * WebSocket and its events, for which Node loads its implementation of fetch: 70 ms of CPU time at the start of
 * each process (Node 24). Types can be imported from `node:http` as usual.
 */
export const {
  Agent,
  createServer,
  request,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule('node:http')
