import type { PackageTable } from '../table.ts'

export const graphqlOverHttp: PackageTable = {
  'index.ts': {
    inside:
      'handler.ts options.ts params.ts profiles.ts request.ts client.ts network-error.ts audits/',
    because: 'It lists the exports of the library.',
  },

  'adapters/': {
    inside: 'adapters/shared/ handler.ts',
    types: 'options.ts request.ts express fastify hono koa node:http node:http2',
    because: 'Adapters only translate: they depend on the handler and its types.',
  },
  'adapters/shared/': {
    inside: 'handler.ts options.ts params.ts request.ts generations.ts',
    outside: 'node:buffer node:http2',
    types: 'node:http',
  },

  'handler.ts': {
    inside: 'negotiate.ts params.ts operation.ts encode.ts profiles.ts options.ts request.ts',
    outside: 'graphql',
    because: 'The core does not depend on adapters, audits or commands.',
  },
  'encode.ts': {
    inside: 'negotiate.ts params.ts profiles.ts options.ts request.ts document-limits.ts',
    outside: 'graphql',
  },
  'operation.ts': {
    inside: 'document-cache.ts document-limits.ts options.ts request.ts',
    outside: 'graphql',
  },
  'params.ts': { inside: 'negotiate.ts request.ts' },
  'options.ts': { inside: 'profiles.ts request.ts similar-option.ts', outside: 'graphql' },
  'profiles.ts': { inside: 'negotiate.ts' },
  'negotiate.ts': { inside: 'generations.ts' },
  'request.ts': {},

  'document-cache.ts': {
    inside: 'generations.ts',
    outside: 'graphql process.env',
    because:
      'NODE_ENV decides whether cached documents are frozen; a library has no main.ts that could read it.',
  },
  'document-limits.ts': { outside: 'graphql' },
  'generations.ts': {},
  'mask-errors.ts': { inside: 'options.ts', outside: 'graphql' },
  'similar-option.ts': {},

  'client.ts': {
    inside: 'client-response.ts network-error.ts similar-option.ts',
    types: 'client-options.ts request.ts graphql',
    because: 'The client depends only on types.',
  },
  'client-options.ts': { types: 'client-response.ts network-error.ts request.ts graphql' },
  'client-response.ts': { types: 'network-error.ts graphql' },
  'network-error.ts': { types: 'graphql' },

  'audits/': {
    types: 'profiles.ts',
    because:
      'The audits communicate with a server only by HTTP, so they work with any implementation.',
  },
  'cli/': {
    inside: 'audits/ profiles.ts similar-option.ts',
    outside: 'node:fs node:path node:process node:util process.env',
  },
}
