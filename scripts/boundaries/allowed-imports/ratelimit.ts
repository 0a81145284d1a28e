import type { PackageTable } from '../table.ts'

const libraries = `
  @bufbuild/protobuf @opentelemetry/* @portcullis/grpc-unary @portcullis/service-kit yaml node:*`

export const ratelimit: PackageTable = {
  'main.ts': { inside: 'commands/**', outside: '@portcullis/service-kit node:module node:process' },
  'commands/**': { inside: '**', outside: `${libraries} process.env` },

  'middleware/**': {
    inside: 'client-keys/**',
    outside: '@portcullis/service-kit/similar-names node:buffer',
    types: 'limiter/** express fastify hono koa node:http',
    because: 'Middleware is given a limiter: it knows no store and no setting of the service.',
  },
  'replay/**': {
    inside: 'rules/** decide/** counters/** stats/** protocol/**',
    outside:
      '@portcullis/service-kit/similar-names node:events node:fs node:stream node:util node:zlib',
    because: 'A replay runs the engine in simulated time, without the service.',
  },

  'client-keys/**': {},
  'limiter/**': { inside: '**', outside: libraries },
  'rules/**': { inside: '**', outside: libraries },
  'decide/**': { inside: '**', outside: libraries },
  'counters/**': { inside: '**', outside: libraries },
  'stats/**': { inside: '**', outside: libraries },
  'protocol/**': { inside: '**', outside: libraries },
  '**': { inside: '**', outside: libraries },
}
