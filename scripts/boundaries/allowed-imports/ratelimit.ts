import type { FolderRules } from '../folders.ts'
import type { PackageTable } from '../table.ts'

const settings = '@portcullis/service-kit/settings'
const log = '@portcullis/service-kit/log'
const metrics = '@portcullis/service-kit/metrics'
/** How messages name counts, reasons and addresses. */
const texts = '@portcullis/service-kit/text'

export const ratelimit: PackageTable = {
  'main.ts': { inside: 'commands/**', outside: '@portcullis/service-kit node:module node:process' },
  'index.ts': { inside: 'client-keys/** counters/** decide/** limiter/**' },

  'commands/**': {
    inside:
      'app/** config/** protocol/** rules/match/** rules/model/** rules/sources/** rules/yaml/** stats/** tools/** workers/**',
    outside:
      '@bufbuild/protobuf @portcullis/grpc-unary @portcullis/service-kit node:fs node:path node:process node:util',
  },
  'config/**': {
    inside: 'counters/plugins.ts decide/** rules/sources/** stats/**',
    outside: `@portcullis/grpc-unary ${settings} ${log} node:crypto node:os`,
    because: 'A plug-in owns its variables; the table of variables is built from their lists.',
  },
  'app/**': {
    inside:
      'config/** counters/** decide/** engine.ts hot/index.ts protocol/** rules/match/** rules/model/** rules/sources/** stats/** tracing/** transports/**',
    outside:
      '@portcullis/grpc-unary @portcullis/service-kit node:crypto node:fs node:net node:path node:tls',
  },
  'workers/**': {
    inside: 'app/** config/** stats/** transports/**',
    outside:
      '@portcullis/grpc-unary @portcullis/service-kit node:module node:net node:process node:timers',
    types: 'node:http',
  },

  'transports/**': {
    inside: 'counters/ decide/** protocol/** stats/**',
    outside:
      '@bufbuild/protobuf @portcullis/grpc-unary @portcullis/service-kit node:crypto node:events node:inspector node:net node:perf_hooks node:process node:timers node:v8',
    types: 'node:http',
    because: 'A transport only translates: it depends on the interfaces of decisions and stores.',
  },
  'tracing/**': {
    inside: 'protocol/** transports/**',
    outside: `@opentelemetry/* @portcullis/grpc-unary ${log} ${texts}`,
    types: 'config/** counters/** decide/** node:http',
  },

  'decide/**': {
    inside: 'counters/ protocol/message.ts stats/**',
    types: `rules/model/** structures/** ${metrics}`,
    because:
      'Decisions depend on the interface of a store, but not on the wire format or the code in hot/.',
  },
  'hot/index.ts': { inside: 'hot/' },
  'hot/': {
    inside: 'decide/** protocol/** rules/model/** stats/** structures/**',
  },
  'counters/index.ts': { inside: 'counters/**' },
  'counters/plugins.ts': { inside: 'counters/**' },
  'counters/': { types: 'structures/**', outside: `${settings} ${log}` },
  'counters/**': {
    inside: 'counters/ structures/** tls/**',
    outside: `${settings} ${log} ${texts} node:crypto node:dns node:fs node:net node:timers node:tls node:zlib`,
    because: 'A store counts, but does not decide.',
  },
  'stats/**': {
    inside: 'structures/** yaml/**',
    outside: `${settings} ${log} ${metrics} ${texts} node:fs node:timers`,
    types: 'protocol/message.ts',
  },
  'protocol/message.ts': {},
  'protocol/**': { inside: 'protocol/message.ts', outside: '@bufbuild/protobuf node:buffer' },
  'tls/**': { outside: settings },
  'structures/**': {
    because: 'Stores, statistics and hot/ share them, so they depend on none of these.',
  },
  'yaml/**': {
    outside: 'node:module yaml',
    because: 'Rules and statistics read their files with it, so it depends on neither.',
  },

  'rules/index.ts': { inside: 'rules/** stats/** yaml/**' },
  'rules/model/**': { types: 'protocol/message.ts stats/**' },
  'rules/match/**': {
    inside: 'hot/index.ts rules/model/** stats/**',
    outside: `${texts} node:timers`,
    types: 'protocol/message.ts',
  },
  'rules/yaml/**': {
    inside: 'hot/index.ts rules/model/** yaml/**',
    outside: `${texts} node:timers node:worker_threads`,
    types: 'protocol/message.ts',
  },
  'rules/sources/**': {
    inside: 'hot/index.ts protocol/** rules/match/** rules/model/** rules/yaml/** tls/**',
    outside: `@bufbuild/protobuf @portcullis/grpc-unary ${settings} ${log} ${texts} node:events node:fs node:http2 node:net node:path node:timers node:tls node:worker_threads`,
    types: 'stats/** yaml/**',
  },
  'engine.ts': {
    inside: 'counters/** decide/** hot/index.ts protocol/** rules/match/** rules/model/** stats/**',
    outside: metrics,
  },

  'tools/**': {
    inside: 'engine.ts rules/index.ts',
    outside: `@portcullis/service-kit/cli/command ${settings} ${texts} node:events node:fs node:path node:stream node:util node:zlib`,
    because: 'The tools run the engine without the service.',
  },

  'client-keys/**': {},
  'limiter/**': {
    inside:
      'counters/** decide/** hot/index.ts protocol/** rules/match/** rules/model/** rules/sources/** rules/yaml/** stats/**',
    outside: `${log} ${texts} @portcullis/service-kit/http node:https node:path`,
    types: 'node:http',
  },
  'middleware/**': {
    inside: 'client-keys/**',
    outside: `${texts} node:buffer`,
    types: 'limiter/** express fastify hono koa node:http',
    because:
      'Middleware receives a limiter: it does not depend on stores or settings of the service.',
  },
}

export const ratelimitFolders: FolderRules = {
  // decide/ and hot/ use rules/model/; the other folders in rules/ use hot/.
  folders: ['rules/*', '*'],
}
