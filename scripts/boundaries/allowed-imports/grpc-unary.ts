import type { PackageTable } from '../table.ts'

export const grpcUnary: PackageTable = {
  'index.ts': { inside: 'server.ts listener.ts tls.ts ./' },
  'warm-up.ts': { inside: 'server.ts grpc/ http2/ ./', outside: 'node:events node:net' },
  'server.ts': {
    inside: 'listener.ts tls.ts in-place-reads.ts grpc/ http2/ ./',
    outside: 'node:net node:tls',
  },
  'listener.ts': { outside: 'node:events node:fs node:net' },
  'tls.ts': { outside: 'node:crypto node:net node:tls' },
  'in-place-reads.ts': { outside: 'node:net' },

  'grpc/': { inside: 'http2/ hpack/ ./', outside: 'node:zlib' },
  'http2/': {
    inside: 'hpack/ ./',
    types: 'node:net',
    because: 'Frames and streams do not depend on services, and receive their sockets.',
  },
  'hpack/': { inside: './' },

  'client.ts': {
    inside: 'client-result.ts ./',
    outside: 'node:events node:http2 node:net node:tls',
  },
  'client-result.ts': { inside: './', outside: 'node:http2' },

  './': {
    because: 'Byte helpers, statuses, limits and the type of a method are the lowest layer.',
  },
}
